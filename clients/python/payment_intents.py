"""Payment Intents for Python 3.9 and later: verifies webhooks and reads the feed. One file, the standard library alone.

The twin of the TypeScript client: both are held to the same vectors.
"""

import base64
import hashlib
import hmac
import http.client
import json
import random
import re
import time
import urllib.error
import urllib.parse
import urllib.request

TOLERANCE_MS = 5 * 60_000
#: The statuses that mean: fulfil the order, once.
PAID_STATUSES = ("payment_payout_completed", "payment_completed")

_ATTEMPTS_MAX = 5
_FIRST_BACKOFF_S = 0.5
_BACKOFF_MAX_S = 15.0
#: Whoever asks for more patience than this gets none: the error is raised.
_RETRY_AFTER_MAX_S = 60
_ANSWER_MAX_BYTES = 8 * 1024 * 1024
_PASSING = (408, 429, 500, 502, 503, 504)


class WebhookRefused(Exception):
    """A webhook that is not to be believed: answer 401 with `reason`.

    reason: missing_header, timestamp_expired, invalid_signature or invalid_body.
    """

    def __init__(self, reason):
        super().__init__(reason)
        self.reason = reason


class PaymentsError(Exception):
    """What the service refused, or why it could not be asked.

    code: the service's own, or connection, unreadableAnswer. status: of HTTP, None without an answer.
    fields: what is wrong where, each with pointer and message.
    """

    def __init__(self, code, message, status=None, request_id=None, fields=()):
        super().__init__(f"{code}: {message}")
        self.code = code
        self.status = status
        self.request_id = request_id
        self.fields = tuple(fields)
        self.retry_after_s = 0


def verify_webhook(headers, body, secrets, now_ms=None):
    """The event of a genuine webhook, by X-Service-Signature; by webhook-signature where that header is missing.

    headers: a mapping of names in any letter case; body: the raw bytes; secrets: one, or several while rotating.
    Genuine is not yet yours: look at the event's type (webhook_test is made up), take no event_id twice, and match
    the payment with your order. Raises WebhookRefused.
    """
    timestamp, unit_ms, head, given, spell = _signed(headers)
    now_ms = time.time() * 1_000 if now_ms is None else now_ms
    if not re.fullmatch("[0-9]{1,15}", timestamp) or abs(now_ms - int(timestamp) * unit_ms) > TOLERANCE_MS:
        raise WebhookRefused("timestamp_expired")
    message = head.encode() + body
    macs = [hmac.new(secret.encode(), message, hashlib.sha256).digest() for secret in secrets if secret]
    # A list: each is compared, whichever fits.
    if not any([hmac.compare_digest(given.encode("utf-8", "replace"), spell(mac)) for mac in macs]):
        raise WebhookRefused("invalid_signature")
    try:
        event = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError):
        raise WebhookRefused("invalid_body") from None
    if not isinstance(event, dict) or "event_id" not in event:
        raise WebhookRefused("invalid_body")
    return event


def _signed(headers):
    """Of one of the two schemes: timestamp, its unit, what is signed before the body, the signature, how one is spelled."""
    named = {name.lower(): value for name, value in headers.items()}
    signature, timestamp = named.get("x-service-signature"), named.get("x-service-timestamp")
    if signature is not None and timestamp is not None:
        return timestamp, 1, f"{timestamp}.", signature, lambda mac: b"sha256=" + mac.hex().encode()
    standard = [named.get(f"webhook-{name}") for name in ("id", "timestamp", "signature")]
    if signature is not None or None in standard:
        raise WebhookRefused("missing_header")
    event_id, timestamp, given = standard
    return timestamp, 1_000, f"{event_id}.{timestamp}.", given, lambda mac: b"v1," + base64.b64encode(mac)


def event_page(base_url, api_key, after="0", limit=100, wait_s=0, sleep=time.sleep):
    """One page of the feed, for who saves nextCursor in the transaction in which the work is done.

    after: "0" is the beginning, "latest" what happens from now on. Asked again, with pauses, while that may help.
    Raises PaymentsError.
    """
    query = urllib.parse.urlencode({"after": after, "limit": limit, "wait": wait_s})
    url = f"{base_url.rstrip('/')}/payment-api/events?{query}"
    for attempt in range(_ATTEMPTS_MAX):
        try:
            return _read(url, api_key, 30 + wait_s)
        except PaymentsError as error:
            is_passing = error.status is None or error.status in _PASSING
            if not is_passing or attempt + 1 == _ATTEMPTS_MAX or error.retry_after_s > _RETRY_AFTER_MAX_S:
                raise
            backoff_s = random.random() * min(_BACKOFF_MAX_S, _FIRST_BACKOFF_S * 2**attempt)
            sleep(error.retry_after_s + backoff_s)


def events(base_url, api_key, load, save, is_handled=lambda event_id: False, wait_s=30, sleep=time.sleep):
    """Every event once and in order, from the cursor that load() returns (None before the first).

    save(cursor) is called once an event was dealt with, that is when the next one is asked for. A program that ends between its
    work and save is given the event again: is_handled(event_id) passes it over. With wait_s=0 it ends where the feed does.
    Raises PaymentsError.
    """
    after = load() or "0"
    while True:
        page = event_page(base_url, api_key, after, wait_s=wait_s, sleep=sleep)
        for event in page["data"]:
            # Ordinals have no gaps: what came before must not be dealt with again, and nothing be left out.
            if after != "latest" and int(event["ordinal"]) != int(after) + 1:
                raise PaymentsError("unreadableAnswer", f"event {event['ordinal']} came after {after}: is this the same app?")
            if not is_handled(event["eventId"]):
                yield event
            after = event["ordinal"]
            save(after)
        if not page["data"] and page["nextCursor"] != after:
            after = page["nextCursor"]
            save(after)
        if wait_s == 0 and not page["hasMore"]:
            return


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A key must not follow a redirect to another host."""

    def redirect_request(self, *_):
        return None


_opener = urllib.request.build_opener(_NoRedirects)


def _read(url, api_key, timeout_s):
    request = urllib.request.Request(url, headers={"X-API-Key": api_key})
    try:
        with _opener.open(request, timeout=timeout_s) as response:
            return _json_of(response, response.status)
    except urllib.error.HTTPError as answer:
        with answer:
            raise _error_of(answer) from None
    except (OSError, http.client.HTTPException) as cause:
        raise PaymentsError("connection", f"the feed was not answered: {cause!r}") from cause


def _json_of(response, status):
    text = response.read(_ANSWER_MAX_BYTES + 1)
    try:
        if len(text) > _ANSWER_MAX_BYTES:
            raise ValueError("too long")
        return json.loads(text)
    except (ValueError, RecursionError):
        raise PaymentsError("unreadableAnswer", "no JSON, or too long: is base_url the service's?", status) from None


def _error_of(answer):
    """The service's words; proxies before it answer in their own."""
    try:
        body = _json_of(answer, answer.code)
        error = PaymentsError(body["error"], body["message"], answer.code, body.get("requestId"), body.get("errors", ()))
    except (PaymentsError, KeyError, TypeError, OSError):
        error = PaymentsError("unreadableAnswer", f"HTTP {answer.code}, and not in the service's words", answer.code)
    given = answer.headers.get("Retry-After") or ""
    error.retry_after_s = int(given) if re.fullmatch("[0-9]{1,9}", given) else 0
    return error
