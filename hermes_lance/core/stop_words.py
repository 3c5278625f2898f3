"""Words that say nothing about the subject of an English text. Data only, so that naming them costs no import."""

from __future__ import annotations

STOP_WORDS = frozenset(
    """
    a about above across after again against all along already also although always am among an and another any anyone
    anything are aren around as at away be became because become been before being below between both but by can
    cannot could couldn did didn do does doesn doing don down during each either else ever every everyone everything
    few for from further had hadn has hasn have haven having he her here hers herself him himself his how however i if
    in into is isn it its itself just many may me might mine more most much must my myself neither never no nor not
    nothing now of off often on once one only onto or other others our ours ourselves out over own per please quite
    rather really s same shall she should shouldn since so some someone something still such t than that the their
    theirs them themselves then there these they thing things this those through thus to together too toward towards
    under unless until up upon us very via was wasn way we well were weren what whatever when where whether which
    while who whole whom whose why will with within without won would wouldn yes yet you your yours yourself
    yourselves
    """.split()  # noqa: SIM905 (read as words, not as two hundred quoted strings)
)
"""English function words, lower case. Left out of queries only, never out of documents."""
