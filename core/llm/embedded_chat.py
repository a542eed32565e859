"""The embedded model as a chat model of LangChain, which has long prompts read once."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_openai import ChatOpenAI
from openai import APIError
from pydantic import Field

from thoughtgraph.llm.prompt_cache import PromptCache

BETWEEN = "\0"
"""What parts the messages of a prompt, where its beginning is compared with others."""


class EmbeddedChat(ChatOpenAI):
    """Asks llama.cpp in this process; requests whose prompts begin alike share what was read."""

    prompts: PromptCache = Field(exclude=True, repr=False)
    """What the server has read."""

    async def _agenerate(
        self, messages: list[BaseMessage], *more: Any, **arguments: Any
    ) -> ChatResult:
        async with self._slot(messages, arguments) as placed:
            return await super()._agenerate(messages, *more, **placed)

    async def _astream(
        self, messages: list[BaseMessage], *more: Any, **arguments: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        async with self._slot(messages, arguments) as placed:
            async for chunk in super()._astream(messages, *more, **placed):
                yield chunk

    @asynccontextmanager
    async def _slot(
        self, messages: Sequence[BaseMessage], arguments: Mapping[str, Any]
    ) -> AsyncIterator[dict[str, Any]]:
        """Gives the arguments of a request, its slot named among them."""
        text = BETWEEN.join(str(message.content) for message in messages)
        act = partial(self._act, messages)
        async with self.prompts.slot(text, arguments.get("n") or 1, act) as slot:
            body = {} if slot is None else {"id_slot": slot}
            yield {**arguments, "extra_body": {**(arguments.get("extra_body") or {}), **body}}

    async def _act(
        self, messages: Sequence[BaseMessage], action: str, slot: int, file: int
    ) -> bool:
        """Has llama.cpp do what a request needs before it is made."""
        client = self.root_async_client
        root = str(client.base_url).removesuffix("/").removesuffix("/v1")
        path, body = f"{root}/slots/{slot}?action={action}", dict[str, Any](filename=str(file))
        if action == "read":
            payload = self._get_request_payload(list(messages))
            body = {"model": payload["model"], "messages": payload["messages"]}
            path, body = "/chat/completions", {**body, "max_tokens": 1, "id_slot": slot}
        try:
            await client.post(path, cast_to=object, body=body)
        except APIError:
            return False  # nothing is lost but time: the request itself says what is wrong
        return True
