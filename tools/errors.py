"""Errors of tools, typed by who must act."""


class ToolFailed(Exception):
    """The call failed in a way the model can adapt to. The message says what was tried and what to do."""


class ToolConfigError(Exception):
    """The operator must act: a broken skill, an unreadable folder, a refused setting."""


class ToolBudgetSpent(Exception):
    """The run has used all the tool calls it may make: it ends with what is proven."""
