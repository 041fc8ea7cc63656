"""A session of an editor with a language server, over its pipes as editors do it; prints what came back, a line each.

usage: mhc-lsp-server.test.py SERVER
"""

import json
import subprocess
import sys

URI = "test:///layer.mlir"
TEXT = """#map = affine_map<(d0) -> (d0)>
func.func @layer(%x: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  %mix = mhc.sinkhorn(logits = %x : tensor<?x4x4xf32>)
      <init = softmax_eps, order = row_col, denom = add, eps = 1.0e-06, iters = 20> -> (mix : tensor<?x4x4xf32>)
  %out = mhc.softmax %mix dim = 2 : tensor<?x4x4xf32>
  return %out : tensor<?x4x4xf32>
}
"""


class Server:
    def __init__(self, command):
        self.process = subprocess.Popen([command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)
        self.requests = 0
        self.version = 0

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def receive(self):
        length = None
        while line := self.process.stdout.readline().strip():
            name, value = line.split(b": ")
            if name == b"Content-Length":
                length = int(value)
        return json.loads(self.process.stdout.read(length))

    def request(self, method, **parameters):
        self.requests += 1
        self.send({"id": self.requests, "method": method, "params": parameters})
        answer = self.receive()
        assert answer["id"] == self.requests, answer
        return answer["result"]

    def show(self, text):
        """Opens or changes the document; the diagnostics that follow."""
        self.version += 1
        document = {"uri": URI, "languageId": "mlir", "version": self.version}
        if self.version == 1:
            self.send({"method": "textDocument/didOpen", "params": {"textDocument": {**document, "text": text}}})
        else:
            self.send({"method": "textDocument/didChange",
                       "params": {"textDocument": document, "contentChanges": [{"text": text}]}})
        answer = self.receive()
        assert answer["method"] == "textDocument/publishDiagnostics", answer
        return answer["params"]["diagnostics"]

    def at(self, method, text, place, **parameters):
        """Asks about the place behind the first `place` of the text."""
        before = text[: text.index(place) + len(place)]
        position = {"line": before.count("\n"), "character": len(before) - before.rfind("\n") - 1}
        return self.request(f"textDocument/{method}", textDocument={"uri": URI}, position=position, **parameters)

    def hover(self, place):
        return self.at("hover", TEXT, place)["contents"]["value"]

    def complete(self, before, after):
        """Labels offered behind `after`, which stands for the first `before` of the text."""
        text = TEXT.replace(before, after, 1)
        self.show(text)
        return sorted(item["label"] for item in self.at("completion", text, after)["items"])


def start(range_):
    return "{line}:{character}".format(**range_["start"])


def main():
    server = Server(sys.argv[1])
    editor = {"textDocument": {"documentSymbol": {"hierarchicalDocumentSymbolSupport": True}}}
    capabilities = server.request("initialize", processId=1, rootPath="", capabilities=editor)["capabilities"]
    print("can:", *sorted(name for name, value in capabilities.items() if value))
    server.send({"method": "initialized", "params": {}})

    print("clean:", server.show(TEXT))
    print("hover op:", server.hover("= mhc.sink"))
    print("hover result:", server.hover("  %mi"))
    print("hover argument:", server.hover("(%"))
    print("hover alias:", server.hover("#ma"))
    definition = server.at("definition", TEXT, "softmax %m")
    print("definition:", *(start(place["range"]) for place in definition))
    references = server.at("references", TEXT, "  %mi", context={"includeDeclaration": True})
    print("references:", *(start(place["range"]) for place in references))
    symbols = server.request("textDocument/documentSymbol", textDocument={"uri": URI})
    print("symbols:", *(symbol["name"] for symbol in symbols))

    print("complete op:", *server.complete("%out = mhc.softmax", "%out = mhc."))
    print("complete operand:", *server.complete("sinkhorn(logits", "sinkhorn("))
    print("complete attribute:", *server.complete("add, eps", "add, "))
    print("complete case:", *server.complete("init = softmax_eps", "init = "))
    print("complete value:", *server.complete("softmax %mix", "softmax %"))

    wrong = TEXT.replace("dim = 2", "dim = 3")
    for problem in server.show(wrong):
        print("error:", start(problem["range"]), problem["message"])
        actions = server.request("textDocument/codeAction", textDocument={"uri": URI}, range=problem["range"],
                                 context={"diagnostics": [problem]})
        print("action:", *(action["title"] for action in actions))

    server.request("shutdown")
    server.send({"method": "exit"})
    print("exit status:", server.process.wait())


main()
