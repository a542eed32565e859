"""Chat models of other providers, by LangChain's `init_chat_model`: `PROVIDER:NAME`."""

import os
from contextlib import AbstractContextManager
from importlib import import_module
from types import TracebackType

from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel
from pydantic import SecretStr, ValidationError

from thoughtgraph.errors import InputError
from thoughtgraph.llm.failures import is_endpoint_failure


def provider_model(specifier: str, forms: str) -> BaseChatModel:
    """Returns the chat model of a specifier `PROVIDER:NAME`.

    The provider's own package reads its key from the environment, such as `$ANTHROPIC_API_KEY`.

    Args:
        specifier: The specifier.
        forms: The forms of a specifier, for the error.

    Raises:
        InputError: LangChain knows no such provider, its package is not installed, or it lacks a
            key or something else.
    """
    provider, _, name = specifier.partition(":")
    with _Opening(specifier, forms):
        if provider == "ollama":
            # Else LangChain would take an outdated class of langchain-community.
            import_module("langchain_ollama")
        # The port repeats what failed, and counts it.
        model = init_chat_model(name, model_provider=provider, max_retries=0)
    _check_key(model, specifier)
    return model


def _check_key(model: BaseChatModel, specifier: str) -> None:
    """Refuses a model without a key of its own.

    Some packages notice it only when the first request fails, others take OpenAI's, which would go
    to their own address.
    """
    for field, variable in model.lc_secrets.items():
        key = getattr(model, field, None)
        text = key.get_secret_value() if isinstance(key, SecretStr) else key
        borrowed = text == os.environ.get("OPENAI_API_KEY") and not os.environ.get(variable)
        if field.endswith("api_key") and (not text or borrowed):
            raise InputError(f"{specifier!r} needs a key: set {variable}")


class _Opening(AbstractContextManager[None]):
    """Turns whatever a provider's package raises while a model is made into one line."""

    def __init__(self, specifier: str, forms: str) -> None:
        self._specifier, self._forms = specifier, forms

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # Without a cause on purpose: a package's error may show what it was given.
        if isinstance(error, ImportError):
            missing = getattr(error.__cause__ or error, "name", None) or "langchain"
            package = missing.partition(".")[0].replace("_", "-")
            raise InputError(
                f"model {self._specifier!r} needs the package {package}: `uv pip install {package}`"
            ) from None
        if isinstance(error, ValueError) and str(error).startswith("Unsupported"):
            raise InputError(f"unknown model {self._specifier!r}; write {self._forms}") from None
        if isinstance(error, ValidationError):
            why = error.errors(include_input=False)[0]["msg"]
            raise InputError(f"model {self._specifier!r} cannot be used: {why}") from None
        if isinstance(error, ValueError | TypeError) or (error and is_endpoint_failure(error)):
            raise InputError(f"model {self._specifier!r} cannot be used: {_line(error)}") from None


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())
