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
# Constructs of other models' templates, and corners of the language.
SNIPPETS += [
    '{%- set s = "one\\\ntwo \\"q\\" \\\nend" %}{{ s }}',
    "{%- macro f(a, deep=True) -%}{%- if a is string -%}'{{ a }}'{%- elif a is boolean -%}{{ 'T' if a else 'F' }}{%- elif a is mapping -%}{{- '{' -}}{%- set ns = namespace(x=false) -%}{%- for k, v in a | dictsort -%}{%- if ns.x %},{% endif -%}{%- set ns.x = true -%}{{ k }}:{{- f(v, deep=deep) -}}{%- endfor -%}{{- '}' -}}{%- elif a is sequence -%}[{%- for i in a -%}{{- f(i) -}}{%- if not loop.last %},{% endif -%}{%- endfor -%}]{%- else -%}{{ a }}{%- endif -%}{%- endmacro -%}{{ f({'b': [1, true, none, {'z': 'q'}], 'a': 2.5, 'C': ()}) }}",
    "{% for k, v in {'a': 1, 'return': 2, 'b': 'x'}.items() if k != 'return' %}{{ k }}={{ v|tojson }}{% if not loop.last %}, {% endif %}{% endfor %}",
    "{{ 'abcdefghijk'[-9:] }}|{{ ([1] + [2, 3])[::2] }}|{{ {'a': 1} | items | list }}|{{ {'x': {'y': 1}}.x.y }}|{{ {'x': 1}.get('q') is none }}",
    "{% set ns = namespace(a=1, b='x') %}{% set ns.a = ns.a + 1 %}{{ ns.a }}{{ ns.b }}{{ ns.c is defined }}",
    "{{ [{'a': {'b': 2}}, {'a': {'b': 1}}] | map(attribute='a.b') | list }}{{ [{'n': 2}, {'n': 1}] | sort(attribute='n') | map(attribute='n') | join(',') }}{{ [3, 1, 2] | sort(reverse=true) }}",
    "{{ [{'a': 1}, {}, {'a': 0}] | selectattr('a') | list }}{{ [{'a': 1}, {'a': 2}] | rejectattr('a', 'eq', 1) | list }}{{ [1, 2, 3, 4] | reject('even') | list }}{{ [0, 1, ''] | select | list }}",
    "{{ {'b': 1, 'a': [1, {'c': 'é'}]} | tojson(sort_keys=true) }}{{ {'é': 1} | tojson(ensure_ascii=true) }}{{ [1, 2] | tojson(separators=(',', ':')) }}{{ {'a': [], 'b': {}} | tojson(indent=4) }}{{ '</script>&\\'' | tojson }}",
    "{{ 'a %s b %d' % ('x', 3) }}{{ '%05.1f|%-5s|%x' % (3.14159, 'ab', 255) }}",
    "{{ '{} and {}'.format(1, 'b') }}{{ '{0}{1}{0}'.format('a', 'b') }}{{ '{x}'.format(x=2) }}",
    "{{ '%s-%s' | format('a', 1) }}",
    "{{ 'xxabxx'.strip('x') }}{{ 'xxab'.lstrip('x') }}{{ 'abxx'.rstrip('x') }}{{ '\\n a \\n'.strip() }}|{{ 'a\\nb\\r\\nc'.splitlines() }}{{ 'a=b=c'.partition('=') }}{{ 'a=b=c'.rpartition('=') }}{{ 'a b  c'.split(' ') }}{{ 'a,b,c'.split(',', 1) }}",
    "{{ 3 is sameas 3 }}{{ none is sameas none }}{{ 1 is eq 1 }}{{ 1 is ne 2 }}{{ 2 is gt 1 }}{{ 2 is ge 2 }}{{ 1 is lt 2 }}{{ 1 is le 1 }}{{ 1 is equalto(1) }}{{ 2 is greaterthan 1 }}{{ 1 is lessthan 2 }}{{ 'a' is == 'a' }}",
    "{{ '12' | int }}{{ 'zz' | int }}{{ 'zz' | int(7) }}{{ '1f' | int(base=16) }}{{ '0x1f' | int(0, 16) }}{{ '3.7' | float }}{{ 'x' | float(1.5) }}{{ 3.75 | round(1) }}{{ 3.75 | round(1, 'floor') }}{{ 3.2 | round(method='ceil') }}{{ 7 | float }}{{ true | int }}",
    "{{ 'a' ~ 'b' | upper }}{{ ('a' ~ 'b') | upper }}{{ 1 + 2 | string | length }}{{ not 1 is odd }}{{ 2 * 3 ** 2 }}{{ -1 | abs }}{{ (1, 2) + (3,) }}{{ 5 - -2 }}{{ 1 if 0 else 2 if 1 else 3 }}",
    '{% set x = 1 %}{% macro m() %}{{ x }}{% endmacro %}{% set x = 2 %}{{ m() }}',
    '{% set a = [] %}{% for i in range(3) %}{% set a = a + [i] %}{% endfor %}{{ a }}{% set b = [1] %}{% set _ = b.append(2) %}{{ b }}',
    "{{ [1, [2, [3]]] | string }}{{ 'a' | list }}{{ {'a': 1}.keys() | list }}{{ {'a': 1}.values() | list }}{{ {'a': 1, 'b': 2} | length }}{{ 'a' in {'a': 1} }}{{ {'a': 1} == {'a': 1} }}{{ [1, 2] == [1, 2] }}{{ {'a': 1} | list }}{{ {'a': 1}.pop('a') }}",
    "{{ messages is defined and messages }}{{ a.b is defined }}{{ a is defined and a.b }}{{ [][0] is defined }}{{ {}['x'] is defined }}{{ {}.x | default('d') }}{{ [1][5] | default('e') }}",
    '{%- if a is not defined -%}A{%- endif %}\n\n  {%- for i in [1,2] %}\n    {{ i }}\n  {%- endfor %}\n  tail  {#- c -#}  x',
    '{% set (a, b) = (1, [2]) %}{{ a }}{{ b }}{% set c = d = 1 %}',
    '{% do [].append(1) %}x',
    "{% if x %}{% elif y is defined %}{% else %}{% if true and not false %}1{% endif %}{% endif %}{{ 'z' if x is defined and x.y else '' }}",
    "{{ 'a' < 'b' }}{{ [1, 2] < [1, 3] }}{{ 1 < 2.5 }}{{ 'a' == 1 }}{{ none == false }}{{ true + 1 }}{{ 10 % 3.5 }}{{ 2 ** -1 }}{{ 7 // 2.0 }}{{ 1 / 3 }}",
    "{{ strftime_now('%d %b %Y %H:%M:%S %A %B %j %y %p %I %%') }}",
    "{%- set content = '<think>r</think>\\n\\nans' -%}{{ content.split('</think>')[-1].lstrip('\\n') }}|{{ content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') }}|{{ (content.split('<think>') | last).strip('\\n') }}",
    "{{ [1,2,3][-1] }}{{ 'abc'[1] }}{{ (1,2)[0] }}{{ [1,2,3][:-1] }}{{ [1,2,3][5:] }}{{ 'abc'[::-1] }}{{ [0,1,2,3,4][-3:-1] }}{{ [1,2,3][slice(1, 2)] is defined }}",
    '{{ 1 is divisibleby(1) }}{{ [1, 2] is contains(1) }}',
    "{{ 'x' is in ['x'] }}{{ 'x' is not in ['y'] }}{{ 'a' not in 'bcd' }}",
    '{{ undefinedfn() }}',
    "{{ [1, 2] | join(', ') | upper ~ '!' }}",
    '{{ none | string }}{{ none | length }}',
    "{{ 'a\\nb\\n\\nc' | indent }}|{{ 'a\\nb' | indent(width=3, first=True, blank=true) }}|{{ 'a\\n\\nb' | indent('>> ') }}",
    "{% set ns = namespace() %}{% set ns.x = 1 %}{{ ns.x }}{% set ns = namespace({'a': 1}, b=2) %}{{ ns.a }}{{ ns.b }}",
    "{{ 'a' if true }}{{ (none or 'x') and 'y' }}{{ '' or [] or 0 or 'last' }}",
    "{{ ', '.join(['a', 'b']) }}{{ 'x'.join('abc') }}{{ 'ab'.center(7, '*') }}{{ 'abc'.center(6) }}|{{ 'ab'.ljust(4) }}|{{ 'ab'.rjust(4) }}{{ '7'.zfill(3) }}{{ '-7'.zfill(4) }}",
    "{{ 'abc'.index('c') }}{{ 'abc'.startswith('b', 1) }}{{ 'abc'.endswith(('c', 'd')) }}{{ 'abab'.replace('a', 'x', 1) }}",
    "{{ '\\u00e9\\x41\\t|\\\\n' }}{{ 'a\\'b' }}{{ '\\101\\0' | length }}{{ ['\\x00\\x7f'] }}{{ -0.0 }}{{ 44e14444 }}{{ -1e-9999 }}",
    "{% for x in [1, 2] %}{{ loop.previtem | default('-') }}{{ loop.nextitem | default('+') }}{{ loop.revindex }}{{ loop.depth }}{% endfor %}{{ () }}{{ (1,) }}{{ {'a': 1}.items() | list }}{{ (1, 2) == [1, 2] }}",
]

# Numbers as Python prints and rounds them; arguments of functions, filters and methods; what a scope keeps.
SNIPPETS += [
    "{{ 1e15 }} {{ 1e16 }} {{ 100000.0 }} {{ 0.0001 }} {{ 0.00001 }} {{ 12345678901234567.0 }} {{ 1e22 }} {{ 5e-324 }} {{ 1.7976931348623157e308 }} {{ 99999999999999990.0 }} {{ -1234567890123456.0 }} {{ 1e15 + 0.5 }}",
    "{{ [1e16, 1e15, 123456789012345678.0, 0.0001, 1e-05, -2.5, 100.0] | tojson }}",
    "{{ 2.675 | round(2) }} {{ 1.005 | round(2) }} {{ 0.5 | round }} {{ 1.5 | round }} {{ -2.5 | round }} {{ 1234.5 | round(-2) }} {{ 15 | round(-1) }} {{ 25 | round(-1) }} {{ -35 | round(-1) }} {{ 3 | round }} {{ 2.345 | round(2, 'ceil') }} {{ 1.15 | round(1) }} {{ 42.55 | round(1) }} {{ 1e300 | round(10) }} {{ 250.0 | round(-2) }} {{ 350.0 | round(-2) }} {{ 250.00001 | round(-2) }} {{ 99.5 | round(-2) }} {{ -0.4 | round }} {{ true | round }} {{ 3 | round(1, 'floor') }}",
    "{{ 1.5 | round(method='up') }}", "{{ 0 ** -1 }}", "{{ 10.0 ** 400 }}", "{{ nothing | int }}", "{{ nothing | float }}", "{{ '4_2' | int }} {{ '4__2' | int }} {{ '+1.5' | float }} {{ '1_0.5' | float }} {{ '1e400' | float }}",
    "{{ dict({'b': 1}, c=3) }} {{ dict([('a', 1), ['b', 2]]) }} {{ dict({'a': 1}, a=2) }} {{ dict() }} {{ {'a': 1, 'a': 2} }} {{ dict(['xy']) }}",
    "{{ dict(1) }}", "{{ dict([1]) }}", "{{ dict({}, {}) }}", "{% set n = namespace([('q', 1)], r=2) %}{{ n.q }}{{ n.r }}{% set m = namespace({'a': 1}, a=3) %}{{ m.a }}",
    "{{ 'abcabc'.find('c', 3) }} {{ 'abcabc'.find('c', 3, 5) }} {{ 'abcabc'.rfind('a', 0, -3) }} {{ 'abcabc'.count('a', 1) }} {{ 'aaa'.count('', 1) }} {{ 'éaéa'.find('a', 2) }} {{ 'abc'.find('', 3) }} {{ 'abc'.find('', 4) }} {{ 'abc'.find('a', -3, 2) }} {{ 'abc'.count('b', none, 1) }} {{ 'abcabc'.index('a', 1) }}",
    "{{ 'abc'.index('a', 1) }}", "{{ 'abc'.startswith('b', 1) }} {{ 'abc'.startswith('bc', 1, 2) }} {{ 'abc'.endswith('b', 0, 2) }} {{ 'abc'.endswith(('x', 'b'), 0, -1) }} {{ 'abc'.startswith('', 4) }}",
    "{{ 'abc'.startswith(['a']) }}", "{{ 'a\\nb\\r\\nc'.splitlines(true) }} {{ 'a\\n\\nb\\n'.splitlines(keepends=True) }} {{ 'a\\x0bb\\x1cc\\u2028d\\x85e\\u2029f'.splitlines() }} {{ '\\n'.splitlines() }} {{ ''.splitlines() }}",
    "{{ 'a'.upper(1) }}", "{{ 'a'.strip(chars='a') }}", "{{ 'a'.find(sub='a') }}", "{{ 'a'.split(sep='a', nothing=1) }}", "{{ 'a'.find('a', 1, 2, 3) }}", "{{ {}.items(1) }}", "{{ {}.get(key='a') }}", "{{ [1] | first(2) }}", "{{ 'a' | upper(1) }}", "{{ [1] | sort(nothing=1) }}", "{{ [1] | join(',', d=';') }}", "{{ 1 is odd(2) }}", "{{ range(stop=3) }}", "{{ [1] | map(attribute='a', nothing=1) | list }}", "{{ [1] | select('odd', 3) | list }}", "{{ 'x' | default('y', nothing=1) }}", "{{ 1 | tojson(nothing=1) }}", "{{ raise_exception(message='x', other=1) }}",
    "{{ ['a', 'B', 'c'] | max }} {{ ['a', 'B', 'c'] | min }} {{ ['a', 'B', 'c'] | min(case_sensitive=true) }} {{ [{'n': 2}, {'n': 1}] | max(attribute='n') }} {{ ['B', 'a', 'b'] | unique | list }} {{ ['B', 'b'] | unique(true) | list }} {{ [{'n': 1}, {'n': 1}] | unique(attribute='n') | list }} {{ ['b', 'B'] | max }}",
    "{{ {'a': 1, 'b': 'x'} | dictsort(by='value') }}", "{{ {'a': 1} | dictsort(by='other') }}", "{{ [1] | tojson(2) }} {{ {'é': [1]} | tojson(true, 2) }}",
    "{{ 'ΑΣ'.lower() }} {{ 'ΑΣ Σ' | lower }} {{ 'ΌΣΟΣ' | lower }} {{ \"ΑΣ'Α\" | lower }} {{ 'ΑΣ.' | lower }} {{ 'Σ' | lower }} {{ 'ﬀ' | upper }} {{ 'ŉ' | upper }} {{ 'Straße' | upper }} {{ 'ΐ' | upper }} {{ 'ᾳ' | upper }} {{ 'ǆ' | capitalize }} {{ 'ﬁx' | capitalize }} {{ 'ß'.title() }} {{ 'ᾳ'.title() }} {{ 'İ' | upper }}{{ 'İ' | lower }}",
    "{{ '²'.isdigit() }} {{ '½'.isdigit() }} {{ '½'.isalpha() }} {{ '½'.isalnum() }} {{ '١٢'.isdigit() }} {{ 'é'.isalpha() }} {{ '中'.isalpha() }} {{ '́'.isalpha() }}",
    "{% for i in [] %}{% else %}{% set a = 3 %}{{ a }}{% endfor %}{{ a }}", "x{% raw %}\n a {% endraw %}\ny", "  {{ 5 }}\n  {%- raw %}\n {{ a }} {% endraw %}\n z", "{% raw -%}\n {{ a }} {%- endraw %}\n z", "a\n  {% raw %}\n  b\n  {% endraw %}\nc",
    "{% macro f(x) %}{{ x }}{% endmacro %}{{ f(q=2) }}", "{% macro f(x, y) %}{{ x }}{{ y }}{% endmacro %}{{ f(1, x=3) }}", "{% macro f(x) %}{{ x }}{% endmacro %}{{ f(1, 2) }}",
    "{{ [1, 5] | select('>', 3) | list }}{{ [1, 5] | select('==', 5) | list }}{{ [1, 5] | reject('!=', 5) | list }}{{ [1, 5] | select('<=', 1) | list }}{{ [1, 5] | select('>=', 5) | list }}{{ [1, 5] | select('<', 5) | list }}{{ [1, 5] | select('greaterthan', 3) | list }}{{ 2 is lessthan 3 }}{{ [{'r': 'u'}, {'r': 'a'}] | rejectattr('r', '==', 'u') | list }}",
    "{% for (a, b) in [(1, 2)] %}{{ a }}{{ b }}{% endfor %}{% for k, v in ['ab', 'cd'] %}{{ k }}{{ v }}{% endfor %}{% set a, b = 'xy' %}{{ a }}{{ b }}", "{{ 0x1F }} {{ 0b11 }} {{ 0o17 }} {{ 0xdead_beef }} {{ 0XfF }}", "{{ 0x }}", "{{ 0b12 }}",
    "{{ ['\\x00\\x1b\\x7f\\xa0\\xad\\u2028\\ufeff\\ue000é\\U0001F600'] }}", "{{ '' | indent(2, true) }}|{{ 'a\\r\\nb' | indent(2) }}|{{ 'a\\n\\nb\\n' | indent(2, blank=true) }}|{{ 'a\\n\\nb\\n' | indent(2) }}|",
    "{{ messages | first | attr('role') }}|{{ {'a': 1} | attr('a') | default('none') }}", "{{ 'aaa' | replace('a', 'b', 2) }} {{ 'aaa' | replace('a', 'b', count=none) }}", "{{ 'a' | replace('a', 'b', 'c') }}",
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
