#!/usr/bin/env python3
"""Renders tests/io/templates/*.jinja on 20 conversations with Jinja set up as transformers sets it up, and small snippets of
the language, and writes tests/io/templates/references.json. Where transformers is installed, its own renderer must agree.
Needs jinja2 (./luminal setup --references)."""
import datetime
import json
import pathlib

import jinja2
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests" / "io" / "templates"
NOW = datetime.datetime(2024, 7, 26, 12, 30, 45)


class Generation(Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.Scope(body).set_lineno(line)


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


ENVIRONMENT = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols])
ENVIRONMENT.filters["tojson"] = tojson
ENVIRONMENT.globals["raise_exception"] = raise_exception
ENVIRONMENT.globals["strftime_now"] = lambda format: NOW.strftime(format)


def user(text):
    return {"role": "user", "content": text}


def assistant(text):
    return {"role": "assistant", "content": text}


def system(text):
    return {"role": "system", "content": text}


WEATHER = {"type": "function", "function": {"name": "weather", "description": "The weather “now”", "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer", "default": 1}}, "required": ["city"]}}}
CLOCK = {"type": "function", "function": {"name": "clock", "parameters": {"type": "object", "properties": {}}}}
CALL = {"role": "assistant", "content": "", "tool_calls": [{"id": "call12345", "type": "function", "function": {"name": "weather", "arguments": {"city": "Köln", "days": 2}}}]}
RESULT = {"role": "tool", "name": "weather", "content": "sunny, 21.5 °C"}
CONVERSATIONS = [
    {"messages": [user("Hello")]},
    {"messages": [user("Hello")], "add_generation_prompt": True},
    {"messages": [system("Be brief."), user("Hi!")], "add_generation_prompt": True},
    {"messages": [user("Hi"), assistant("Hello! How can I help?"), user("Sing.")], "add_generation_prompt": True},
    {"messages": [system("  spaces around  "), user("  a  "), assistant("  b  "), user("c\n\n")]},
    {"messages": [user("日本語 🙂 «quotes» \"double\" 'single' \\ back")], "add_generation_prompt": True},
    {"messages": [user("a\nb\r\nc\td")]},
    {"messages": [user("")], "add_generation_prompt": True},
    {"messages": [system(""), user("empty system")]},
    {"messages": [user("1"), assistant("2"), user("3"), assistant("4"), user("5"), assistant("6")]},
    {"messages": [user("weather?")], "tools": [WEATHER], "add_generation_prompt": True},
    {"messages": [user("weather?")], "tools": [WEATHER, CLOCK], "add_generation_prompt": True},
    {"messages": [user("weather?"), CALL, RESULT], "tools": [WEATHER], "add_generation_prompt": True},
    {"messages": [user("weather?"), CALL, RESULT, assistant("Sunny."), user("Thanks")], "tools": [WEATHER]},
    {"messages": [user("weather?"), CALL, {"role": "tool", "content": {"t": 21.5, "ok": True, "x": None, "l": [1, "a"]}}]},
    {"messages": [user("think"), assistant("<think>\nhm\n</think>\n\nYes.")], "enable_thinking": True},
    {"messages": [user("think"), assistant("<think>\nhm\n</think>\n\nYes."), user("again")], "add_generation_prompt": True, "enable_thinking": False},
    {"messages": [assistant("I begin"), user("no")]},
    {"messages": [user([]), assistant([{"type": "text", "text": " parts "}, {"type": "image"}])]},
    {"messages": [user("date"), {"role": "nobody", "content": "?"}], "date_string": "1 Jan 2025", "tools": None},
]
SNIPPETS = [
    "{% for x in [1, 2, 3] %}\n  {{ x }}{% if not loop.last %},{% endif %}\n{% endfor %}\nend\n",
    "a\n   {%- if true %} b {%- endif %}\n c", "a {{- 'b' -}} c", "  {% if true %}\n  x\n  {% endif %}\n  y", "{%+ if true %}z{% endif +%}\nq",
    "{# c #}\nx{#- d -#}  y", "{% raw %}{{ x }} {% if %}{% endraw %}!", "{{ 'a' ~ 1 ~ none ~ true ~ 1.0 ~ [1, 'x', none] ~ {'k': 'v'} }}",
    "{{ [1, 2, 3, 4][1:3] }}{{ [1, 2, 3][::-1] }}{{ 'héllo'[1:] }}{{ 'abc'[-1] }}{{ 'abcdef'[::2] }}",
    "{{ 7 // 2 }} {{ -7 // 2 }} {{ 7 % 3 }} {{ -7 % 3 }} {{ 7 / 2 }} {{ 2 ** 10 }} {{ 1 + 2 * 3 - 4 }} {{ 1.5 * 2 }} {{ -2 ** 2 }}",
    "{{ 1 < 2 < 3 }} {{ 1 == 1.0 }} {{ 'a' in 'cat' }} {{ 3 not in [1, 2] }} {{ not false and true or false }}",
    "{{ x is defined }} {{ x is undefined }} {{ none is none }} {{ 3 is odd }} {{ 4 is divisibleby 2 }} {{ 'A' is upper }} {{ [] is iterable }} {{ 1 is in [1] }}",
    "{{ missing }}|{{ missing | default('d') }}|{{ '' | default('e', true) }}|{{ none | default('f') }}",
    "{{ ' x ' | trim }}{{ 'ab' | upper }}{{ 'AB' | lower }}{{ 'hello world' | title }}{{ 'hELLO' | capitalize }}{{ [3, 1, 2] | sort | join('-') }}",
    "{{ ['a', 'B', 'c'] | map('upper') | list }}{{ [{'n': 1}, {'n': 2}] | map(attribute='n') | sum }}{{ [1, 2, 3] | select('odd') | list }}",
    "{{ [{'r': 'u'}, {'r': 'a'}] | selectattr('r', 'equalto', 'u') | list | length }}{{ [1, 2] | first }}{{ [1, 2] | last }}{{ {'b': 1, 'a': 2} | dictsort | map('join', '=') | join(',') }}",
    "{{ 'a,b,c'.split(',') }}{{ ' a  b '.split() }}{{ 'a-b-c'.rsplit('-', 1) }}{{ 'abc'.replace('b', 'x') }}{{ 'abc'.startswith('ab') }}{{ 'abc'.find('c') }}",
    "{% set ns = namespace(n=0) %}{% for i in range(5) %}{% set ns.n = ns.n + i %}{% endfor %}{{ ns.n }}",
    "{% macro m(a, b='y') %}<{{ a }}{{ b }}>{% endmacro %}{{ m('x') }}{{ m('x', b='z') }}{{ m(b=1, a=2) }}",
    "{% set x %}block {{ 1 + 1 }}{% endset %}{{ x | upper }}", "{% for k, v in {'a': 1, 'b': 2}.items() %}{{ k }}={{ v }};{% else %}none{% endfor %}",
    "{% for i in [] %}x{% else %}empty{% endfor %}", "{% for i in range(10) if i is even %}{% if i == 6 %}{% break %}{% endif %}{{ loop.index }}:{{ i }} {% endfor %}",
    "{% for i in range(4) %}{% if i == 1 %}{% continue %}{% endif %}{{ i }}{{ loop.cycle('a', 'b') }}{% endfor %}",
    "{{ {'a': [1, 2.5, true, none, 'é\"\\n']} | tojson }}", "{{ {'a': {'b': [1, 2]}, 'c': []} | tojson(indent=2) }}", "{{ 'x' if false else 'y' }}{{ 'x' if false }}",
    "{{ 'a\\nb' | indent(2) }}{{ 'a\\nb' | indent(2, true) }}", "{{ strftime_now('%Y-%m-%d') }}", "{{ ('a', 'b') | join }}{{ 'abc' | reverse }}{{ 3.7 | int }}{{ '42' | int + 1 }}{{ 2.5 | round }}",
    "{% filter upper %}ab{{ 'c' }}{% endfilter %}", "{% with a = 1, b = 2 %}{{ a + b }}{% endwith %}", "{{ 'a' 'b' }}{{ [1, [2, 3]] }}{{ (1,) | list }}{{ {} }}",
    "{% if 1 %}\n{% elif 2 %}\n{% else %}\n{% endif %}\nx", "{{ 'it''s' }}{{ \"d\\\"q\" }}{{ ['it\\'s', 'q\"'] }}", "{% set a, b = 1, 2 %}{{ a }}{{ b }}", "{% set x = 1 %}{% for i in [1] %}{% set x = 2 %}{% endfor %}{{ x }}",
    "{{ messages.foo is defined }}{{ {'items': 3}.items is callable }}{{ {'k': 1}.get('k') }}{{ {'k': 1}.get('z', 9) }}{{ {'k': 1}['k'] }}", "line\r\nnext\r\n",
    "{{ [1,2,3] | length }}{{ 'héé' | length }}{{ {'a': 1} | length }}{{ 'a b c' | wordcount }}{{ [1, 1, 2] | unique | list }}{{ [1, 2] | max }}{{ -3 | abs }}",
    "{{ '<a & b>' | e }}{{ 'x' | safe }}{{ 1 | string + '1' }}{{ 'a' * 3 }}{{ [0] * 2 }}", "{% for c in 'añ' %}[{{ c }}]{% endfor %}", "{{ 10000000000 * 3 }}{{ 1e3 }}{{ 0.1 + 0.2 }}{{ 1_000 }}",
]


def attempt(template, variables):
    try:
        return {"text": ENVIRONMENT.from_string(template).render(**variables)}
    except Exception as error:  # what a template refuses, we refuse; the words may differ
        return {"error": type(error).__name__}


def check_with_transformers(template, variables, expected):
    try:
        from transformers.utils.chat_template_utils import _compile_jinja_template
    except ImportError:
        return
    if "strftime_now" in template or "text" not in expected:
        return
    rendered = _compile_jinja_template(template).render(**variables)
    assert rendered == expected["text"], (template, rendered, expected)


def main():
    cases = []
    for path in sorted(FOLDER.glob("*.jinja")):
        template = path.read_text()
        for number, conversation in enumerate(CONVERSATIONS):
            variables = {"bos_token": "<s>", "eos_token": "</s>", **conversation}
            expected = attempt(template, variables)
            check_with_transformers(template, variables, expected)
            cases.append({"file": path.name, "conversation": number, "variables": variables, **expected})
    for snippet in SNIPPETS:
        variables = {"messages": [user("x")]}
        expected = attempt(snippet, variables)
        check_with_transformers(snippet, variables, expected)
        cases.append({"template": snippet, "variables": variables, **expected})
    (FOLDER / "references.json").write_text(json.dumps(cases, ensure_ascii=False, indent=None, separators=(",", ":")).replace("},{\"", "},\n{\"") + "\n")


main()
