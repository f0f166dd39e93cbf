"""How property tests run here: no deadline for one example, since a busy machine is no fault of the parser."""

from hypothesis import settings

settings.register_profile("parsers", deadline=None)
settings.load_profile("parsers")
