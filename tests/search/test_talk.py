"""What is told from a message alone, in many languages, by whole words."""

from __future__ import annotations

import pytest

from hermes_lance.core.config import GateConfig
from hermes_lance.search import gate, talk
from hermes_lance.search.gate_words import TALK, phrases

NO_CONFIGURATION = GateConfig()


@pytest.mark.parametrize(
    "message",
    ["thanks", "Thanks!!", "ok, great", "Hello again", "hi there :)", "danke dir", "Guten Morgen", "alles klar, danke",
     "merci beaucoup", "d'accord", "oui, merci", "¡Hola!", "vale, gracias", "Спасибо", "да, хорошо", "谢谢",
     "好的，明白了",
     "ありがとうございます", "네, 감사합니다", "شكرا", "धन्यवाद", "Thank you so much, that was really helpful"],
)  # fmt: skip
def test_greetings_thanks_and_short_answers_are_closed_in_every_language(message):
    verdict = gate.before(message, NO_CONFIGURATION)
    assert not verdict.opens and verdict.reason == "the message is a greeting, thanks or a short answer"


@pytest.mark.parametrize(
    "message",
    ["rollback steps for postgres cluster", "why did the canary fail yesterday", "Wie setze ich den Server zurück?",
     "warum ist der Build kaputt", "Où sont les sauvegardes", "¿Dónde están las copias?", "如何回滚数据库？",
     "昨天为什么失败了",
     "デプロイの手順", "Как откатить релиз", "롤백 절차", "thanks, and where is the runbook for it?",
     "ok canary", "VPN"],
)  # fmt: skip
def test_what_may_concern_the_files_is_looked_up_in_every_language(message):
    assert gate.before(message, NO_CONFIGURATION).opens


def test_words_are_whole_words():
    # Parts of words are none of those that name the user's files, and say nothing about a question.
    for message in ("I shower every day", "the plane was late again", "update your profile picture now", "nowhere"):
        assert talk.names_files(message) is None and not talk.asks(message)


@pytest.mark.parametrize(
    "message",
    ["look into my notes", "What do OUR DOCS say about it", "steht das in den Unterlagen?", "c'est dans mes fichiers",
     "está en mis apuntes", "поищи в моих заметках", "在笔记里找一下", "ドキュメントを見て", "check the runbook"],
)  # fmt: skip
def test_a_message_that_names_the_files_opens_without_a_second_look(message):
    verdict = gate.before(message, NO_CONFIGURATION)
    assert verdict.opens and verdict.sure and "asks for the files" in verdict.reason


@pytest.mark.parametrize("message", ["17 * 23", "what's 17 times 23?", "Was ist 17 mal 23?", "12 + 8 =",
                                     "17乘以23等于多少？",
                                     "¿Cuánto es el 15 % de 240?", "240的百分之十五是多少？"])  # fmt: skip
def test_sums_are_closed(message):
    assert gate.before(message, NO_CONFIGURATION).reason == "the message is a sum"


@pytest.mark.parametrize("message", ["2024-01-15", "10.0.0.1", "error 404", "port 8080 or 8443?", "version 1.2 and 1.3",
                                     "what is 404", "第3章和第4章"])  # fmt: skip
def test_other_numbers_are_no_sums(message):
    assert gate.before(message, NO_CONFIGURATION).opens


@pytest.mark.parametrize(
    "message",
    ["who did it", "zeig mir den Plan", "comment faire", "¿y ahora", "что дальше", "怎么办", "いくつありますか",
     "아직 왜 그래",
     "list them", "what about these"],
)  # fmt: skip
def test_questions_and_requests_are_known_by_their_words(message):
    assert talk.asks(message)


def test_a_message_without_a_word_and_one_of_common_words_alone_are_closed():
    assert gate.before("🙂🙂", NO_CONFIGURATION).reason == "the message holds no word"
    assert gate.before("the and of", NO_CONFIGURATION).reason == "the message holds only very common words"
    assert gate.before("what are they?", NO_CONFIGURATION).opens


def test_the_configuration_adds_phrases_and_words_of_its_own():
    config = GateConfig(open_words=("kladde",), closed_phrases=("Over and out",))
    assert (
        gate.before("over and OUT!", config).reason == "the message is one of the closed phrases of the configuration"
    )
    assert gate.before("steht in der Kladde", config).sure
    assert not gate.before("kladdenheft", config).sure
    # What the user closes stays closed, also where it names the files.
    assert not gate.before("my notes", GateConfig(closed_phrases=("my notes",))).opens


def test_a_long_message_is_never_mere_talk():
    assert not talk.is_talk("ok, " * 100)


def test_every_phrase_of_the_list_closes_a_message_by_itself():
    assert [phrase for phrase in phrases(TALK) if not talk.is_talk(phrase)] == []
