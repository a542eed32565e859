"""A LangChain chat model for the embedded server, which reads long shared prompts only once."""

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
"""Separates the messages of a prompt when its prefix is compared with that of others."""


class EmbeddedChat(ChatOpenAI):
    """Asks llama.cpp in this process; requests share the cache of a common prompt prefix."""

    prompts: PromptCache = Field(exclude=True, repr=False)
    """The prompts that the server has read."""

    async def _agenerate(
        self, messages: list[BaseMessage], *more: Any, **arguments: Any
    ) -> ChatResult:
        async with self._slot(messages, arguments) as options:
            return await super()._agenerate(messages, *more, **options)

    async def _astream(
        self, messages: list[BaseMessage], *more: Any, **arguments: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        async with self._slot(messages, arguments) as options:
            async for chunk in super()._astream(messages, *more, **options):
                yield chunk

    @asynccontextmanager
    async def _slot(
        self, messages: Sequence[BaseMessage], arguments: Mapping[str, Any]
    ) -> AsyncIterator[dict[str, Any]]:
        """Yields the arguments of a request, with the number of its slot added."""
        text = BETWEEN.join(str(message.content) for message in messages)
        act = partial(self._act, messages)
        async with self.prompts.slot(text, arguments.get("n") or 1, act) as slot:
            body = {} if slot is None else {"id_slot": slot}
            yield {**arguments, "extra_body": {**(arguments.get("extra_body") or {}), **body}}

    async def _act(
        self, messages: Sequence[BaseMessage], action: str, slot: int, file: int
    ) -> bool:
        """Makes llama.cpp read, save or restore a slot; returns whether that succeeded."""
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
            return False  # this costs only time: the request itself reports the problem
        return True
