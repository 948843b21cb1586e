"""A small real model behind an OpenAI-compatible endpoint; schemas and tools become grammars of the sampler.

    python tests/recorders/grammar_server.py MODEL.gguf [PORT] [THREADS] [loose]

`loose`: the first answer to a question is only made to be JSON, of any shape, so that it has to be asked again.

Needs llama-cpp-python, which no test needs. For recording cassettes only. The model's words are nonsense: what it
proves is the path (HTTP, constrained decoding, usage, truncation), never the quality of a judgement.
"""

from __future__ import annotations

import json
import sys
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

JSON_GRAMMAR = r"""root ::= obj
val ::= obj | arr | str | num | "true" | "false" | "null"
obj ::= "{" ws (str ":" ws val ("," ws str ":" ws val)*)? ws "}"
arr ::= "[" ws (val ("," ws val)*)? ws "]"
str ::= "\"" [^"\\\x00-\x1F\x7F]{0,200} "\""
num ::= "-"? ("0" | [1-9] [0-9]{0,8}) ("." [0-9]{1,4})?
ws ::= [ \n]{0,4}"""


class Grammar:
    """The subset of JSON Schema that is sent here, as GBNF."""

    def __init__(self, schema):
        self.rules = {}
        self.text = f"root ::= {self.of(schema)}\n" + "\n".join(f"{k} ::= {v}" for k, v in self.rules.items())

    def of(self, schema):
        if "enum" in schema:
            return self.rule(" | ".join(_literal(value) for value in schema["enum"]))
        return getattr(self, f"of_{schema.get('type', 'null')}")(schema)

    def rule(self, body):
        known = next((name for name, text in self.rules.items() if text == body), None)
        if known is None:
            known = f"r{len(self.rules) + 1}"
            self.rules[known] = body
        return known

    def of_object(self, schema):
        parts = (f'{_literal(name)} ":" {self.of(part)}' for name, part in schema["properties"].items())
        return self.rule('"{" ' + ' "," '.join(parts) + ' "}"')

    def of_array(self, schema):
        item, most = self.of(schema["items"]), schema.get("maxItems", 8)
        return self.rule(f'"[" {item} ("," {item}){{0,{most - 1}}} "]"')

    def of_string(self, schema):
        return self.rule(f'"\\"" [^"\\\\\\x00-\\x1F\\x7F]{{1,{min(schema.get("maxLength", 200), 400)}}} "\\""')

    def of_number(self, schema):
        if (schema.get("minimum"), schema.get("maximum")) == (0, 1):
            return self.rule('"0." [0-9]{1,2} | "1.0"')
        return self.rule('"-"? ("0" | [1-9] [0-9]{0,8}) ("." [0-9]{1,4})?')

    def of_boolean(self, _schema):
        return self.rule('"true" | "false"')

    def of_null(self, _schema):
        return self.rule('"null"')


def _literal(value):
    return json.dumps(json.dumps(value, ensure_ascii=False), ensure_ascii=False)


def wanted(body, loose=False):
    """The grammar a request asks for, and the name of the tool when it asks for one."""
    form = body.get("response_format") or {}
    if loose and not any(message["role"] == "assistant" for message in body["messages"]):
        return JSON_GRAMMAR, None
    if tools := body.get("tools"):
        tool = tools[0]["function"]
        return Grammar(tool["parameters"]).text, tool["name"]
    if form.get("type") == "json_schema":
        return Grammar(form["json_schema"]["schema"]).text, None
    return (JSON_GRAMMAR if form.get("type") == "json_object" else None), None


def flat(message):
    """A message as the chat format takes it."""
    role = message["role"] if message["role"] in ("system", "user", "assistant") else "user"
    return {"role": role, "content": message.get("content") or ""}


class Model:
    """The model, one request at a time, with a fixed seed."""

    def __init__(self, path, threads, loose):
        from llama_cpp import Llama

        self.llama = Llama(path, n_ctx=8192, n_threads=threads, n_threads_batch=threads, seed=42, verbose=False,
                           chat_format="chatml")  # fmt: skip
        self.lock, self.loose = threading.Lock(), loose

    def answer(self, body):
        from llama_cpp import LlamaGrammar

        grammar, tool = wanted(body, self.loose)
        with self.lock:
            self.llama.reset()
            reply = self.llama.create_chat_completion(
                messages=[flat(message) for message in body["messages"]],
                temperature=body.get("temperature", 1.0),
                max_tokens=body.get("max_tokens") or body.get("max_completion_tokens") or 512,
                repeat_penalty=1.1,
                seed=42,
                grammar=LlamaGrammar.from_string(grammar, verbose=False) if grammar else None,
            )
        reply["model"] = body["model"]
        return _as_tool_call(reply, tool) if tool else reply


def _as_tool_call(reply, name):
    choice = reply["choices"][0]
    call = {"name": name, "arguments": choice["message"]["content"]}
    calls = [{"id": f"call_{uuid.uuid4().hex[:12]}", "type": "function", "function": call}]
    choice["message"] = {"role": "assistant", "content": None, "tool_calls": calls}
    if choice["finish_reason"] == "stop":
        choice["finish_reason"] = "tool_calls"
    return reply


def handler(model):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            began = time.perf_counter()
            reply = json.dumps(model.answer(body), ensure_ascii=False).encode()
            print(f"{time.perf_counter() - began:.1f} s", flush=True)
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *_):
            pass

    return Handler


if __name__ == "__main__":
    given = dict(enumerate(sys.argv))
    port = int(given.get(2, 8089))
    server = ThreadingHTTPServer(
        ("127.0.0.1", port), handler(Model(given[1], int(given.get(3, 1)), "loose" in sys.argv))
    )
    print(f"ready on {port}", flush=True)
    server.serve_forever()
