"""The embedded model as a chat model of LangChain, which has long prompts read once."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
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
        self, messages: list[BaseMessage], *given: Any, **arguments: Any
    ) -> ChatResult:
        async with self._slot(messages, arguments) as placed:
            return await super()._agenerate(messages, *given, **placed)

    async def _astream(
        self, messages: list[BaseMessage], *given: Any, **arguments: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        async with self._slot(messages, arguments) as placed:
            async for chunk in super()._astream(messages, *given, **placed):
                yield chunk

    @asynccontextmanager
    async def _slot(
        self, messages: Sequence[BaseMessage], arguments: Mapping[str, Any]
    ) -> AsyncIterator[dict[str, Any]]:
        """Gives the arguments of a request, its slot named among them."""
        text = BETWEEN.join(str(message.content) for message in messages)
        server = _Server(self, messages)
        async with self.prompts.slot(text, arguments.get("n") or 1, server) as slot:
            body = {} if slot is None else {"id_slot": slot}
            yield {**arguments, "extra_body": {**(arguments.get("extra_body") or {}), **body}}


@dataclass(frozen=True, slots=True)
class _Server:
    """What llama.cpp does for one request before it is made."""

    chat: EmbeddedChat
    messages: Sequence[BaseMessage]

    async def read(self, slot: int) -> None:
        payload = self.chat._get_request_payload(list(self.messages))
        asked = {"model": payload["model"], "messages": payload["messages"]}
        await self._post("/chat/completions", {**asked, "max_tokens": 1, "id_slot": slot})

    async def save(self, slot: int, file: int) -> bool:
        return await self._move(slot, "save", file)

    async def restore(self, slot: int, file: int) -> bool:
        return await self._move(slot, "restore", file)

    async def _move(self, slot: int, action: str, file: int) -> bool:
        root = str(self.chat.root_async_client.base_url).removesuffix("/").removesuffix("/v1")
        return await self._post(f"{root}/slots/{slot}?action={action}", {"filename": str(file)})

    async def _post(self, path: str, body: dict[str, Any]) -> bool:
        try:
            await self.chat.root_async_client.post(path, cast_to=object, body=body)
        except APIError:
            return False  # nothing is lost but time: the request itself says what is wrong
        return True
