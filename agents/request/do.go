package request

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/template"
)

// Do sends the request of a node or a tool. It returns no error: Log.Error describes a failure, a response other than 2xx, a nil client, or
// variables that could not be read from the response. Log.Variables contains the variables found in the response.
func (c *Call) Do(
	ctx context.Context, client Client, org callwright.OrgID, name string, variables map[string]any,
) (log Log) {
	log = Log{Name: name, Method: c.source.Method}
	began := time.Now()
	defer func() { log.Duration = time.Since(began) }()
	r, address, err := c.request(org, variables)
	log.URL = address
	switch {
	case err != nil:
		log.Error = callwright.MessageOf(err)
		return log
	case client == nil:
		log.Error = "this server sends no requests to other systems"
		return log
	}
	response, err := client.Do(ctx, r)
	switch {
	case ctx.Err() != nil:
		log.Error = "the request was canceled, but the other system may have carried it out"
		return log
	case err != nil:
		log.Error = callwright.MessageOf(err)
		return log
	}
	log.Status = response.Status
	steps := budgetOf(ctx)
	var value any
	isJSON, dear := false, len(response.Body) > maxLogged && !steps.spend(stepsToRead(response.Body))
	if !dear {
		value, isJSON = Decode(response.Body)
	}
	log.Body = excerpt(response.Body, value, isJSON)
	var problems []string
	if log.Status < 200 || log.Status > 299 {
		problems = append(problems, fmt.Sprintf("the other system answered with status %d", log.Status))
	}
	if len(c.paths) > 0 {
		switch {
		case isJSON:
			log.Variables, problems = extract(c.paths, value, steps, problems)
		case dear:
			problems = append(problems, "the answer is not read: it has too many values for the rest of this turn")
		default:
			problems = append(problems, "the answer is not JSON")
		}
	}
	log.Error = strings.Join(problems, "; ")
	return log
}

// request returns the request with its variables filled in. shown is the URL for logs. request returns CodeBadRequest if the variables
// result in an invalid URL, or in a header or body that is too long.
func (c *Call) request(org callwright.OrgID, variables map[string]any) (r Request, shown string, err error) {
	values := template.NewValues(variables, math.MaxInt) // encodes a long list only once, not for every header
	u, err := c.address(c.filled(variables), values)
	if err != nil {
		return Request{}, "", err
	}
	r = Request{Org: org, Method: c.source.Method, URL: u.String(), Timeout: c.source.Timeout}
	named := false
	for _, h := range c.headers {
		named = named || strings.EqualFold(h.name, "Content-Type")
		value := printable(values.Render(h.value, template.MaxValues))
		if len(value) > maxHeader {
			err = callwright.Invalid("", "the header %s must have at most %d bytes with its variables", h.name, maxHeader)
		}
		r.Header = append(r.Header, Pair{h.name, value})
	}
	if c.body != nil {
		r.Body = c.body.render(variables)
		if !named {
			r.Header = append(r.Header, Pair{"Content-Type", types[c.body.kind]})
		}
	}
	if len(r.Body) > MaxBody {
		err = callwright.Invalid("", "the body must have at most %d bytes with its variables", MaxBody)
	}
	without := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	return r, without.String(), err
}

// maxLogged is the maximum length of a response in a log, in bytes of JSON.
const maxLogged = 4 << 10

// excerpt returns a response for a log. A JSON response of at most maxLogged bytes is returned as JSON, any other response as a JSON string
// of its beginning. It returns nil for an empty response.
func excerpt(text []byte, value any, isJSON bool) json.RawMessage {
	if len(text) == 0 {
		return nil
	}
	if isJSON && len(text) <= maxLogged {
		if whole := Encode(value); len(whole) <= maxLogged {
			return whole
		}
	}
	for n := maxLogged; ; n /= 2 {
		begin := strings.ToValidUTF8(string(text[:min(n, len(text))]), "")
		if short := Encode(strings.ReplaceAll(begin, "\x00", "")); len(short) <= maxLogged {
			return short
		}
	}
}
