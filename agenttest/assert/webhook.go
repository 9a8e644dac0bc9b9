package assert

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// addressMatch determines how a URL is compared.
type addressMatch string

// The values of addressMatch. The default is addressExact.
const (
	addressExact  addressMatch = "exact"
	addressPrefix addressMatch = "prefix"
	addressGlob   addressMatch = "glob" // * matches any characters
)

// webhookRule is the rule of WebhookTriggered.
type webhookRule struct {
	url           string
	match         addressMatch
	node          string
	method        string
	body          map[string]any // members that the request's body must contain; nil means any body
	places        []place
	least, most   int // required number of requests; most is -1 if unlimited
	before, after string
}

// place is a JSON pointer and the expected value at it.
type place struct {
	pointer string
	tokens  []string
	value   any
}

func compileWebhook(f *fields, _ *Assertion) rule {
	const minimum, maximum = "min_count", "max_count"
	c := &webhookRule{most: -1}
	c.url = f.word("url", MaxURL)
	c.match = choice(f, "url_match", addressExact, addressPrefix, addressGlob)
	c.node = f.node("node_id")
	if f.has("method") {
		c.method = choice(f, "method", "GET", "POST", "PUT", "PATCH", "DELETE")
	}
	c.readBody(f)
	if f.has(maximum) {
		c.most = f.whole(maximum, 0, 0, MaxCount)
	}
	c.least = 1
	if c.most == 0 {
		c.least = 0
	}
	c.least = f.whole(minimum, c.least, 0, MaxCount)
	c.before, c.after = f.node("before_node"), f.node("after_node")
	switch {
	case c.most >= 0 && c.least > c.most:
		f.rejectf(path(minimum), "must be at most max_count")
	case c.least == 0 && c.most < 0:
		f.rejectf(path(minimum), "must be at least 1 without max_count: every run would pass")
	}
	if !f.broken && !slices.ContainsFunc([]string{"url", "node_id", "method", "request_body", "body_match"}, f.has) {
		f.rejectf("config", "must have at least one of url, node_id, method, request_body and body_match")
	}
	return c
}

// readBody reads the expected members and places of the request's body.
func (c *webhookRule) readBody(f *fields) {
	if v, known := f.get("request_body"); known {
		body, isObject := v.(map[string]any)
		switch {
		case !isObject:
			f.rejectf(path("request_body"), "must be an object, not %s", kindOf(v))
		case len(body) > MaxMembers:
			f.rejectf(path("request_body"), "must have at most %d members", MaxMembers)
		}
		c.body = body
	}
	v, known := f.get("body_match")
	if !known {
		return
	}
	at := path("body_match")
	pointers, isObject := v.(map[string]any)
	if !isObject || len(pointers) == 0 || len(pointers) > MaxPointers {
		f.rejectf(at, "must be an object with 1 to %d JSON pointers and their values", MaxPointers)
		return
	}
	for pointer, value := range pointers {
		tokens, valid := parsePointer(pointer)
		if !valid {
			f.rejectf(at, "must have JSON pointers such as /order/items/0 as names, not %s", excerpt(firstInvalid(pointers)))
			return
		}
		c.places = append(c.places, place{pointer, tokens, value})
	}
	slices.SortFunc(c.places, func(a, b place) int { return strings.Compare(a.pointer, b.pointer) })
}

// firstInvalid returns the smallest name in an object that is not a valid JSON pointer. At least one must be invalid.
func firstInvalid(pointers map[string]any) string {
	var wrong []string
	for p := range pointers {
		if _, valid := parsePointer(p); !valid {
			wrong = append(wrong, p)
		}
	}
	return slices.Min(wrong)
}

// parsePointer parses a JSON pointer (RFC 6901) of at most 512 bytes.
func parsePointer(pointer string) (tokens []string, valid bool) {
	const longest = 512 // bytes
	if pointer == "" {
		return nil, true
	}
	if pointer[0] != '/' || len(pointer) > longest {
		return nil, false
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		plain := strings.ReplaceAll(strings.ReplaceAll(token, "~0", ""), "~1", "")
		if strings.Contains(plain, "~") {
			return nil, false
		}
		tokens = append(tokens, strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~"))
	}
	return tokens, true
}

// resolve returns the value that the tokens of a JSON pointer point to. known is false if there is none.
func resolve(value any, tokens []string) (at any, known bool) {
	for _, token := range tokens {
		switch v := value.(type) {
		case map[string]any:
			if value, known = v[token]; !known {
				return nil, false
			}
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(v) || strconv.Itoa(i) != token {
				return nil, false
			}
			value = v[i]
		default:
			return nil, false
		}
	}
	return value, true
}

func (c *webhookRule) evaluate(_ context.Context, e *Evidence, _ evaluationTools, r *Result) {
	r.Expected = c.expected()
	if len(e.Webhooks) > MaxCalls || c.hasBody() && bodies(e.Webhooks) > MaxTarget {
		r.failf(Error, CodeTooLarge, "A run can have at most %d requests, with at most %d bytes in their bodies together.", MaxCalls, MaxTarget)
		return
	}
	from, to := c.window(e)
	alike, inTime, last, early := 0, 0, -1, -1
	for i := range e.Webhooks {
		w := &e.Webhooks[i]
		if !c.fits(w) {
			continue
		}
		alike++
		if w.Visit < from || w.Visit > to {
			early = i
			continue
		}
		if inTime++; last < 0 || inTime <= max(c.least, c.most+1) {
			last = i
		}
	}
	r.Actual = map[string]any{"requests": len(e.Webhooks), "matching": alike, "in_order": inTime}
	switch {
	case c.most >= 0 && inTime > c.most:
		r.failf(Failed, CodeManyWebhooks, "The agent sent %s, but at most %d are allowed.", plural(inTime, "matching request"), c.most)
		r.decidedBy(e, last)
	case inTime >= c.least:
		r.passf("The agent sent %s.", plural(inTime, "matching request"))
		r.decidedBy(e, last)
	case alike >= c.least:
		r.failf(Failed, CodeWrongOrder, "The agent sent %s, but only %d at the right time.", plural(alike, "matching request"), inTime)
		r.decidedBy(e, early)
	default:
		r.failf(Failed, CodeNoWebhook, "The agent sent %s, but needs %d.", plural(alike, "matching request"), c.least)
		if c.node != "" {
			r.Node = e.place(e.where(func(id string, _ *Node) bool { return id == c.node }))
		}
	}
}

// decidedBy sets the deciding turn to the turn of a request. For a failure it also sets the blamed node: the node that sent the request if
// it was visited, else the node that was active in this turn. decidedBy does nothing if request is -1.
func (r *Result) decidedBy(e *Evidence, request int) {
	if request < 0 {
		return
	}
	w := &e.Webhooks[request]
	r.decidedIn(e, w.Turn)
	if r.blame(e, ""); r.Outcome == Failed && e.visited(w.Node) >= 0 {
		r.Node = w.Node
	}
}

// expected returns the configuration for results: min_count, and the other members that are set, except url_match and the expected body.
func (c *webhookRule) expected() map[string]any {
	out := map[string]any{"min_count": c.least}
	for name, text := range map[string]string{
		"url": c.url, "method": c.method, "node_id": c.node, "before_node": c.before, "after_node": c.after,
	} {
		if text != "" {
			out[name] = text
		}
	}
	if c.most >= 0 {
		out["max_count"] = c.most
	}
	return out
}

// window returns the range of Webhook.Visit in which requests count. They must follow the first visit of the node c.after, and precede the
// first visit of the node c.before.
func (c *webhookRule) window(e *Evidence) (from, to int) {
	to = int(^uint(0) >> 1)
	if c.after != "" {
		if from = e.visited(c.after) + 1; from == 0 {
			from = to
		}
	}
	if i := e.visited(c.before); c.before != "" && i >= 0 {
		to = i
	}
	return from, to
}

// fits reports whether a request matches the configuration, regardless of when it was sent.
func (c *webhookRule) fits(w *Webhook) bool {
	if c.node != "" && w.Node != c.node || c.method != "" && !strings.EqualFold(w.Method, c.method) ||
		c.url != "" && !c.match.fits(c.url, w.URL) {
		return false
	}
	return !c.hasBody() || c.fitsBody(w.Body)
}

// hasBody reports whether the configuration expects a certain body.
func (c *webhookRule) hasBody() bool { return c.body != nil || len(c.places) > 0 }

// fitsBody reports whether a body contains the expected members and places.
func (c *webhookRule) fitsBody(raw json.RawMessage) bool {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var body any
	if err := d.Decode(&body); err != nil {
		return false
	}
	if c.body != nil && !subset(c.body, body) {
		return false
	}
	for _, p := range c.places {
		if value, known := resolve(body, p.tokens); !known || !equal(p.value, value) {
			return false
		}
	}
	return true
}

// bodies returns the total size of the requests' bodies in bytes.
func bodies(all []Webhook) int {
	size := 0
	for i := range all {
		size += len(all[i].Body)
	}
	return size
}

// fits reports whether a URL matches a pattern.
func (m addressMatch) fits(pattern, url string) bool {
	switch m {
	case addressPrefix:
		return strings.HasPrefix(url, pattern)
	case addressGlob:
		return Glob(pattern, url)
	default:
		return url == pattern
	}
}

// Glob reports whether a pattern matches a whole text. In the pattern, * matches any number of any characters.
func Glob(pattern, text string) bool {
	first, rest, open := strings.Cut(pattern, "*")
	if !open {
		return text == pattern
	}
	text, ok := strings.CutPrefix(text, first)
	for ok && open {
		var next string
		if next, rest, open = strings.Cut(rest, "*"); !open {
			return strings.HasSuffix(text, next)
		}
		_, text, ok = strings.Cut(text, next)
	}
	return ok
}
