"""Loaded by every Python that the server starts: begins to listen, then gives way to the `sitecustomize` that would have been loaded."""

import os
import sys


def _begin():
    here = os.path.dirname(os.path.abspath(__file__))
    try:
        # Older ones have no way to notice a fork; no MCP server runs on them.
        if sys.version_info >= (3, 8):
            import _interlock_switches

            _interlock_switches.begin(os.path.dirname(here))
    except Exception:
        # The server must run as if nobody were there. That nobody listens is seen from outside.
        pass
    sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder or ".") != here]
    ours = sys.modules.pop("sitecustomize")
    try:
        import sitecustomize  # noqa: F401
    except ImportError as error:
        if getattr(error, "name", "sitecustomize") != "sitecustomize":
            raise
        # Whoever imports a module wants to find it afterwards.
        sys.modules["sitecustomize"] = ours


_begin()
