"""One session of an editor, in the form of -lit-test."""

import json

TEXT = "func.func @f(%x: tensor<4xf32>) {\n  %0 = mhc.softmax %x dim = 2 : tensor<4xf32>\n  return\n}\n"
document = {"uri": "test:///f.mlir", "languageId": "mlir", "version": 1, "text": TEXT}
messages = [
    {"id": 0, "method": "initialize", "params": {"processId": 1, "rootPath": "", "capabilities": {}}},
    {"method": "textDocument/didOpen", "params": {"textDocument": document}},
    {"id": 1, "method": "shutdown"},
    {"method": "exit"},
]
print("\n// -----\n".join(json.dumps({"jsonrpc": "2.0", **message}) for message in messages))
