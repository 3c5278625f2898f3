"""Words by which a message points at something that was said before. Data only; lower case.

Pronouns that are something else as well, in their language or in another one of these, are left out: German "das" and
French "le" are articles, French "il" is the Italian one, and Polish "ich" is the German "I".
"""

from __future__ import annotations

PRONOUNS = frozenset(
    """
    it its this that these those they them their theirs he him his she hers we us our ours former latter
    er sie es ihn ihm ihr ihre ihren ihrem ihrer dies diese dieser dieses diesen diesem jene jener jenes davon dafür
    damit dazu daran darin darauf darüber dessen deren denen letztere letzteren
    elle elles lui leur leurs cela ça ceci celui celle ceux celles cet cette ces
    eso esto ese esa esos esas este esta estos estas él ella ellos ellas ello suyo suya aquel aquella aquello
    esso essa essi esse questo questa questi queste quello quella quelli quelle ciò lui lei loro
    isso isto esses essas ele ela eles elas dele dela deles delas disso disto nisso aquilo aquele aquela
    dit dat deze hij zij hem haar hun hen ervan erover daarvan
    он она оно они его её ее ему ей их им этот эта это эти этого этой этих этом эту тот того той тех том
    jego jej tego tej tych temu ono oni
    bu şu onun bunun bunu şunu onu onlar bunlar
    هذا هذه ذلك تلك هو هي هم هؤلاء منه منها فيه فيها
    यह वह ये वे इस उस इसे उसे इसका इसकी इसके उसका उसकी उसके इनका उनका
    그것 이것 저것 그거 이거 그건 이건 그게 이게
    """.split()  # noqa: SIM905 (read as words)
)
"""Whole words."""

POINTERS = ("它", "他", "她", "这", "那", "這", "其", "これ", "それ", "あれ", "この", "その", "あの", "そこ", "彼")
"""The same in scripts without spaces, where no word ends."""

OPENERS = frozenset(
    """
    and but or also then so und aber oder auch dann et mais ou aussi alors y pero también entonces e ma anche allora
    mas também então en maar ook и а но или также ale też ve ama و لكن और लेकिन 그리고 그런데
    """.split()  # noqa: SIM905 (read as words)
)
"""A message that begins so goes on with something."""
