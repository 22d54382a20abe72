"""Stands where SGLang looks for its CUDA kernels, on a machine that has none: there is no CPU build of them to
install. Every name and submodule exists, so that the server can be imported; whoever calls one is told."""

import importlib.abc
import importlib.machinery
import sys
import types

__version__ = "0.0.0+stub"


class _Missing:
    def __init__(self, name):
        self.__name__ = self.__qualname__ = name

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Missing(f"{self.__name__}.{name}")

    def __call__(self, *args, **kwargs):
        raise NotImplementedError(f"{self.__name__} is a CUDA kernel, and this is the stub for CPUs")


class _Submodule(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Missing(f"{self.__name__}.{name}")


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        if name.startswith(__name__ + "."):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return _Submodule(spec.name)

    def exec_module(self, module):
        pass


sys.meta_path.insert(0, _Finder())


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return _Missing(f"{__name__}.{name}")


def _without_pinning():
    """SGLang registers the memory of routed experts with CUDA wherever it runs (--enable-return-routed-experts)."""
    import torch

    class Runtime:
        cudaHostRegister = cudaHostUnregister = staticmethod(lambda *_: 0)

    if not torch.cuda.is_available():
        torch.cuda.cudart = lambda: Runtime


_without_pinning()
