# A brain that takes a number of five digits. Run it with: SECRET=whsec_... PORT=8000 python3 brain.py
import base64, hashlib, hmac, json, os, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

if "SECRET" not in os.environ:
    raise SystemExit("SECRET must be the organization's webhook secret, whsec_...")
KEY = base64.b64decode(os.environ["SECRET"].removeprefix("whsec_"))


def signed(headers, body):
    """Reports whether Callwright has signed the body within the last five minutes."""
    message_id, at = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "0")
    mac = hmac.new(KEY, f"{message_id}.{at}.".encode() + body, hashlib.sha256).digest()
    right = "v1," + base64.b64encode(mac).decode()
    known = any(hmac.compare_digest(right, given) for given in headers.get("webhook-signature", "").split())
    return known and at.isdigit() and abs(time.time() - int(at)) < 300


def answer(request):
    """Yields the lines of an answer, from nothing but the request."""
    turn = request["turn"]
    digits = turn.get("digits", "")
    if turn["kind"] == "start" and turn["number"] > 1:
        yield {"type": "say", "text": "I could not reach anybody. What is your customer number?"}
    elif turn["number"] == 1:
        yield {"type": "say", "text": "Hello. What is your customer number?"}
    elif len(digits) == 5:
        yield {"type": "set", "variables": {"customer": digits}}
        yield {"type": "say", "text": "Thank you. Somebody will call you back. Goodbye."}
        yield {"type": "end", "reason": "the number is known"}
        return
    elif "person" in turn["text"].lower():
        yield {"type": "say", "text": "One moment, please."}
        yield {"type": "transfer"}
        return
    else:
        yield {"type": "say", "text": "Please say the five digits of your customer number."}
    yield {"type": "expect", "kind": "digits", "min": 5, "max": 5}
    yield {"type": "done", "early": True}


class Brain(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        good = signed(self.headers, body)
        self.send_response(200 if good else 401)
        self.send_header("content-type", "application/x-ndjson")
        self.end_headers()
        for line in answer(json.loads(body)) if good else []:
            self.wfile.write(json.dumps(line).encode() + b"\n")


ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8000"))), Brain).serve_forever()
