package request_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/request"
)

// parse parses a valid source. An empty URL is replaced by an example.
func parse(t *testing.T, s request.Source) *request.Call {
	t.Helper()
	if s.URL == "" {
		s.URL = "https://example.com/"
	}
	c, err := s.Parse()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// made returns the request that Do sends for a source and its variables.
func made(t *testing.T, s request.Source, variables map[string]any) request.Request {
	t.Helper()
	client := &agentstest.Requests{}
	if log := parse(t, s).Do(t.Context(), client, "org", "n", variables); log.Error != "" {
		t.Fatalf("%+v: %s", s, log.Error)
	}
	return client.Made()[0]
}

func TestAddress(t *testing.T) {
	t.Parallel()
	variables := map[string]any{
		"id": "a/b?c#d&e=f%2F", "n": 7, "q": "x&y=z #+", "host": "evil.example", "dots": "..", "deep": map[string]any{"x": "ü"},
		"at": "@evil.example", "lines": "a\r\nHost: evil", "dot": ".", "long": strings.Repeat("x", 24<<10),
	}
	for _, test := range []struct {
		url   string
		query []request.Pair
		want  string
	}{
		{"https://example.com", nil, "https://example.com"},
		{"HTTPS://Example.com:8443/a?b=c#d", nil, "https://Example.com:8443/a?b=c"},
		{"https://example.com/{{id}}/x", nil, "https://example.com/a%2Fb%3Fc%23d&e=f%252F/x"},
		{"https://example.com/{{deep.x}}/{{n}}", nil, "https://example.com/%C3%BC/7"},
		{"https://example.com/{{at}}", nil, "https://example.com/@evil.example"},
		{"https://example.com/{{lines}}", nil, "https://example.com/a%0D%0AHost:%20evil"},
		{"https://example.com/x{{dots}}", nil, "https://example.com/x.."},
		{"https://example.com?q={{q}}", nil, "https://example.com?q=x%26y%3Dz+%23%2B"},
		{"https://example.com/#{{q}}", nil, "https://example.com/"},
		{"https://example.com/?a={{unknown}}", nil, "https://example.com/?a="},
		{"https://example.com/", []request.Pair{{Name: "a b", Value: "{{q}}"}, {Name: "c", Value: ""}}, "https://example.com/?a+b=x%26y%3Dz+%23%2B&c="},
		{"https://example.com/?a=1", []request.Pair{{Name: "a", Value: "{{n}}"}}, "https://example.com/?a=1&a=7"},
	} {
		if got := made(t, request.Source{URL: test.url, Query: test.query}, variables); got.URL != test.want {
			t.Errorf("%q became %q, want %q", test.url, got.URL, test.want)
		}
	}
	for _, url := range []string{
		"https://example.com/users/{{dots}}/{{id}}", "https://example.com/{{dot}}", "https://example.com/.{{dot}}/x",
		"https://example.com/%2e{{dot}}", "https://example.com/?x={{long}}",
	} {
		client := &agentstest.Requests{}
		log := parse(t, request.Source{URL: url}).Do(t.Context(), client, "org", "n", variables)
		if log.Error == "" || len(client.Made()) > 0 {
			t.Errorf("%q was sent to %+v", url, client.Made())
		}
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	got := made(t, request.Source{
		Method: "POST", Body: "{}", Timeout: 3 * time.Second,
		Headers: []request.Pair{{Name: "Authorization", Value: "Bearer {{key}}"}, {Name: "X-Evil", Value: "{{evil}}"}, {Name: "X-Evil", Value: "2"}},
	}, map[string]any{"key": "hush", "evil": "a\r\nHost: evil\x00\tü"})
	want := []request.Pair{
		{Name: "Authorization", Value: "Bearer hush"}, {Name: "X-Evil", Value: "a  Host: evil  ü"}, {Name: "X-Evil", Value: "2"},
		{Name: "Content-Type", Value: "application/json"},
	}
	if !reflect.DeepEqual(got.Header, want) || got.Org != "org" || got.Timeout != 3*time.Second {
		t.Errorf("sent %+v", got)
	}
}

func TestBody(t *testing.T) {
	t.Parallel()
	variables := map[string]any{
		"s": `"}, {"a\` + "\n\x00\xff<", "n": 7, "big": int64(1 << 60), "f": 0.5, "yes": true, "nil": nil, "list": []any{"a", 1},
		"o": map[string]any{"k": `"`}, "odd": func() {},
	}
	for _, test := range []struct{ kind, body, want, sent string }{
		{"", `{"a": "{{s}}"}`, `{"a": "\"}, {\"a\\\n\u0000\ufffd\u003c"}`, "application/json"},
		{"", `{"a": {{s}}}`, `{"a": "\"}, {\"a\\\n\u0000\ufffd\u003c"}`, "application/json"},
		{"", `[{{n}}, {{big}},{{f}},{{yes}},{{nil}},{{list}},{{o}},{{unknown}},{{odd}}]`, `[7, 1152921504606846976,0.5,true,null,["a",1],{"k":"\""},null,null]`, "application/json"},
		{"", `["{{n}} {{yes}}{{unknown}}","{{o}}","\"{{n}}\\"]`, `["7 true","{\"k\":\"\\\"\"}","\"7\\"]`, "application/json"},
		{"", `{"{{n}}": 1}`, `{"7": 1}`, "application/json"},
		{"", `{{o}}`, `{"k":"\""}`, "application/json"},
		{"", `"{{n}}"`, `"7"`, "application/json"},
		{"application/vnd.api+json", `{{n}}`, `7`, ""},
		{"text/plain", `{"a": "{{o}}"`, `{"a": "{"k":"\""}"`, ""},
		{"", "Hello {{n}}", "Hello 7", "text/plain; charset=utf-8"},
		{"application/x-www-form-urlencoded", "a={{s}}&b={{n}}", "a=%22%7D%2C+%7B%22a%5C%0A%00%FF%3C&b=7", ""},
	} {
		s := request.Source{Method: "PUT", Body: test.body}
		if test.kind != "" {
			s.Headers = []request.Pair{{Name: "content-TYPE", Value: test.kind}}
		}
		got := made(t, s, variables)
		if string(got.Body) != test.want {
			t.Errorf("%s became %s, want %s", test.body, got.Body, test.want)
		}
		if last := got.Header[len(got.Header)-1]; test.sent != "" && (last.Name != "Content-Type" || last.Value != test.sent) {
			t.Errorf("%s was sent as %v, want %s", test.body, last, test.sent)
		}
		if test.kind != "" && len(got.Header) != 1 {
			t.Errorf("%s was sent with %v", test.body, got.Header)
		}
	}
	if got := made(t, request.Source{Method: "POST"}, nil); got.Body != nil || len(got.Header) > 0 {
		t.Errorf("no body was sent as %q with %v", got.Body, got.Header)
	}
	client := &agentstest.Requests{}
	log := parse(t, request.Source{Body: "{{s}}"}).Do(t.Context(), client, "org", "n", map[string]any{"s": strings.Repeat("x", request.MaxBody+1)})
	if log.Error == "" || len(client.Made()) > 0 {
		t.Errorf("a body that is too long was sent; the log is %+v", log)
	}
	log = parse(t, request.Source{Headers: []request.Pair{{Name: "X", Value: "{{s}}"}}}).Do(t.Context(), client, "org", "n", map[string]any{"s": strings.Repeat("x", 8<<10+1)})
	if log.Error == "" || len(client.Made()) > 0 {
		t.Errorf("a header that is too long was sent; the log is %+v", log)
	}
}

// TestLog checks that a log contains excerpts of the response and no secrets of the request.
func TestLog(t *testing.T) {
	t.Parallel()
	c := parse(t, request.Source{
		Method: "POST", URL: "https://user:hush@example.com/a/{{id}}?token=hush", Body: `{"password": "hush"}`,
		Headers: []request.Pair{{Name: "Authorization", Value: "hush"}}, Query: []request.Pair{{Name: "key", Value: "hush"}},
		Variables: []request.Mapping{{Name: "x", Path: "$.x"}},
	})
	long := `"` + strings.Repeat("<", 5000) + `"`
	for name, test := range map[string]struct {
		status    int
		body      string
		err       error
		wantBody  string
		wantError string
		variables map[string]any
	}{
		"fine":         {200, ` {"x": 1, "y": [2.5, 12345678901234567]} `, nil, `{"x":1,"y":[2.5,12345678901234567]}`, "", map[string]any{"x": int64(1)}},
		"not found":    {404, `{"x": "why"}`, nil, `{"x":"why"}`, "the other system answered with status 404", map[string]any{"x": "why"}},
		"redirect":     {302, ``, nil, ``, "the other system answered with status 302; the answer is not JSON", nil},
		"no JSON":      {200, "<html>\x00\xff", nil, `"\u003chtml\u003e"`, "the answer is not JSON", nil},
		"two values":   {200, `{"x":1} {"x":2}`, nil, `"{\"x\":1} {\"x\":2}"`, "the answer is not JSON", nil},
		"long":         {200, long, nil, "", "", map[string]any{}},
		"NUL":          {200, `{"x": "a\u0000b", "a\u0000": 1}`, nil, `{"a":1,"x":"ab"}`, "", map[string]any{"x": "ab"}},
		"unavailable":  {0, "", callwright.Errorf(callwright.CodeUnavailable, "no answer"), "", "no answer", nil},
		"unknown":      {0, "", errors.New("dial tcp 10.0.0.1"), "", "internal error", nil},
		"null":         {200, `{"x": null}`, nil, `{"x":null}`, "", map[string]any{"x": nil}},
		"too deep":     {200, strings.Repeat("[", 20000), nil, "", "the answer is not JSON", nil},
		"huge numbers": {200, `{"x": [1e999, -0, 1.0, 18446744073709551616]}`, nil, `{"x":["1e999",0,1,18446744073709552000]}`, "", map[string]any{"x": []any{"1e999", int64(0), 1.0, 18446744073709551616.0}}},
	} {
		client := &agentstest.Requests{Answer: func(context.Context, request.Request) (request.Response, error) {
			return request.Response{Status: test.status, Body: []byte(test.body)}, test.err
		}}
		log := c.Do(t.Context(), client, "org", "node", map[string]any{"id": "a b"})
		if log.Name != "node" || log.Method != http.MethodPost || log.URL != "https://example.com/a/a%20b" || log.Status != test.status {
			t.Errorf("%s: the log is %+v", name, log)
		}
		if log.Error != test.wantError || !reflect.DeepEqual(log.Variables, test.variables) {
			t.Errorf("%s: %q, %v", name, log.Error, log.Variables)
		}
		if test.wantBody != "" && string(log.Body) != test.wantBody || len(log.Body) > 4<<10 || len(log.Body) > 0 && !json.Valid(log.Body) {
			t.Errorf("%s: the body is noted as %.100s", name, log.Body)
		}
		if strings.Contains(fmt.Sprint(log), "hush") {
			t.Errorf("%s: the log %+v holds a secret", name, log)
		}
	}
}

// TestTakes checks the values that JSONPath expressions find in a response.
func TestTakes(t *testing.T) {
	t.Parallel()
	const answer = `{"user": {"id": 7, "names": ["Ada", "Bo"], "": 1}, "items": [{"n": 1, "p": 5.5}, {"n": 2, "p": 15}], "none": [], "a b": true}`
	for path, want := range map[string]any{
		"$.user.id":                    int64(7),
		" $['user']['id'] ":            int64(7),
		"$['a b']":                     true,
		"$.user.names":                 []any{"Ada", "Bo"},
		"$.user.names[-1]":             "Bo",
		"$.user.names[0,1]":            []any{"Ada", "Bo"},
		"$.items[*].n":                 []any{int64(1), int64(2)},
		"$..p":                         []any{5.5, int64(15)},
		"$.items[?(@.p > 10)].n":       int64(2),
		"$.items[?@.n == 1].p":         5.5,
		"$.items[?(@.n =~ /(a+)+$/)]":  nil,
		"$.user.names[?(@ =~ /^A/)]":   "Ada",
		"$.items[::0]":                 nil,
		"$.items[99999999999999999]":   nil,
		"$.none":                       []any{},
		"$.none[*]":                    nil,
		"$.user.id.deeper":             nil,
		"$.missing":                    nil,
		"$.user":                       map[string]any{"id": int64(7), "names": []any{"Ada", "Bo"}, "": int64(1)},
		"$.items[?(@.p / 0 > 1)].n":    nil,
		"$.items[?(length(@) == 2)].n": []any{int64(1), int64(2)},
	} {
		c := parse(t, request.Source{Variables: []request.Mapping{{Name: "x", Path: path}}})
		log := c.Do(t.Context(), &agentstest.Requests{Answer: agentstest.JSON(answer)}, "org", "n", nil)
		if got := log.Variables["x"]; !reflect.DeepEqual(got, want) || log.Error != "" {
			t.Errorf("%s gave %#v, want %#v; %s", path, got, want, log.Error)
		}
	}
}

// TestTakesNothingFromAPanic checks that a path at which the JSONPath library panics sets no variable, and that the other variables are
// set.
func TestTakesNothingFromAPanic(t *testing.T) {
	t.Parallel()
	const path = "$[1:9223372036854775807:9223372036854775807]"
	c := parse(t, request.Source{Variables: []request.Mapping{{Name: "x", Path: path}, {Name: "y", Path: "$[0]"}}})
	log := c.Do(t.Context(), &agentstest.Requests{Answer: agentstest.JSON("[1, 2, 3]")}, "org", "n", nil)
	if log.Error != "x: the path cannot be evaluated in this answer" || !reflect.DeepEqual(log.Variables, map[string]any{"y": int64(1)}) {
		t.Errorf("the log is %+v", log)
	}
}

// TestTakesLittle checks that variables with too large values are omitted with an error, and that the others are set.
func TestTakesLittle(t *testing.T) {
	t.Parallel()
	answer := `{"small": 1, "text": "` + strings.Repeat("x", 40<<10) + `", "nested": ` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) +
		`, "wide": [` + strings.Repeat("[],", 100_000) + `[]], "third": "` + strings.Repeat("x", 12<<10) + `"}`
	names := []string{"text", "nested", "wide", "third", "third", "third", "small"}
	s := request.Source{Variables: []request.Mapping{{Name: "all", Path: "$"}, {Name: "every", Path: "$..*"}}}
	for i, name := range names {
		s.Variables = append(s.Variables, request.Mapping{Name: fmt.Sprint(name, i), Path: "$." + name})
	}
	log := parse(t, s).Do(t.Context(), &agentstest.Requests{Answer: agentstest.JSON(answer)}, "org", "n", nil)
	if len(log.Variables) != 3 || log.Variables["small6"] != int64(1) || len(fmt.Sprint(log.Variables["third4"])) != 12<<10 {
		t.Errorf("the variables are %.200v", log.Variables)
	}
	if n := strings.Count(log.Error, "too large"); n != 6 {
		t.Errorf("%d are too large: %s", n, log.Error)
	}
}

func TestNoClient(t *testing.T) {
	t.Parallel()
	if log := parse(t, request.Source{}).Do(t.Context(), nil, "org", "n", nil); log.Error == "" || log.Status != 0 {
		t.Errorf("the log is %+v", log)
	}
}

// TestBrokenOff checks that a request stops when its context is done, and that the log reports the cancellation.
func TestBrokenOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		client := &agentstest.Requests{Answer: func(ctx context.Context, _ request.Request) (request.Response, error) {
			<-ctx.Done()
			return request.Response{}, ctx.Err()
		}}
		log := parse(t, request.Source{}).Do(ctx, client, "org", "n", nil)
		if !strings.Contains(log.Error, "canceled") || log.Duration != time.Second {
			t.Errorf("the log is %+v", log)
		}
	})
}

func BenchmarkDo(b *testing.B) {
	c, err := request.Source{
		Method: "POST", URL: "https://example.com/{{id}}?x={{x}}", Body: `{"a": "{{x}}", "b": {{id}}}`,
		Headers: []request.Pair{{Name: "Authorization", Value: "Bearer {{x}}"}}, Variables: []request.Mapping{{Name: "y", Path: "$.user.id"}},
	}.Parse()
	if err != nil {
		b.Fatal(err)
	}
	variables := map[string]any{"id": int64(7), "x": "a b"}
	b.ReportAllocs()
	for b.Loop() {
		_ = c.Do(b.Context(), canned{}, "org", "n", variables)
	}
}

// canned returns the same response to every request. Unlike agentstest.Requests, it records no requests.
type canned struct{ request.Client }

func (canned) Do(context.Context, request.Request) (request.Response, error) {
	return request.Response{Status: 200, Body: []byte(`{"user": {"id": 7, "name": "Ada"}}`)}, nil
}

func ExampleCall_Do() {
	call, err := request.Source{
		Method: "POST", URL: "https://example.com/bookings/{{day}}", Body: `{"name": "{{name}}", "seats": {{seats}}}`,
		Variables: []request.Mapping{{Name: "booking", Path: "$.id"}},
	}.Parse()
	if err != nil {
		fmt.Println(err)
		return
	}
	client := &agentstest.Requests{Answer: agentstest.JSON(`{"id": "B-7"}`)}
	log := call.Do(context.Background(), client, "org", "book", map[string]any{"day": "1/2", "name": `"Ada"`, "seats": 2})
	fmt.Println(client.Made()[0].URL, string(client.Made()[0].Body))
	fmt.Println(log.Status, log.Variables)
	// Output:
	// https://example.com/bookings/1%2F2 {"name": "\"Ada\"", "seats": 2}
	// 200 map[booking:B-7]
}
