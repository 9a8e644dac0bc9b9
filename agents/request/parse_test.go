package request_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/request"
)

func TestParseDefaults(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ given, want request.Source }{
		{request.Source{}, request.Source{Method: "GET", Timeout: request.DefaultTimeout}},
		{request.Source{Method: "post", Timeout: time.Second}, request.Source{Method: "POST", Timeout: time.Second}},
		{request.Source{Method: "DELETE", Timeout: time.Hour}, request.Source{Method: "DELETE", Timeout: request.LongestTimeout}},
	} {
		test.given.URL = "https://example.com"
		c, err := test.given.Parse()
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Source(); got.Method != test.want.Method || got.Timeout != test.want.Timeout || got.URL != test.given.URL {
			t.Errorf("%+v became %+v", test.given, got)
		}
	}
}

// TestCharacters checks that limits count characters, not bytes.
func TestCharacters(t *testing.T) {
	t.Parallel()
	s := request.Source{
		Method: "POST", URL: "https://example.com/" + strings.Repeat("é", 2000), Body: strings.Repeat("語", 64<<10),
		Query: []request.Pair{{Name: strings.Repeat("é", 256)}}, Variables: []request.Mapping{{Name: "x", Path: "$['" + strings.Repeat("é", 507) + "']"}},
	}
	client := &agentstest.Requests{}
	if log := parse(t, s).Do(t.Context(), client, "org", "n", nil); log.Error != "" {
		t.Errorf("got %q", log.Error)
	}
	s.Body += "x"
	if _, err := s.Parse(); err == nil || !strings.Contains(err.Error(), "65536 characters") {
		t.Errorf("a longer body gave %v", err)
	}
}

// TestParseFaults checks that the error names the field of a source's only fault.
func TestParseFaults(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", request.MaxBody+1)
	header := func(name, value string) request.Source {
		return request.Source{Headers: []request.Pair{{Name: "X-Fine", Value: "{{x}}"}, {Name: name, Value: value}}}
	}
	body := func(kind, body string) request.Source {
		s := request.Source{Method: "POST", Body: body}
		if kind != "" {
			s.Headers = []request.Pair{{Name: "content-type", Value: kind}}
		}
		return s
	}
	path := func(name, path string) request.Source {
		return request.Source{Variables: []request.Mapping{{Name: "fine", Path: "$.a"}, {Name: name, Path: path}}}
	}
	url := func(url string) request.Source { return request.Source{URL: url} }
	for field, faulty := range map[string][]request.Source{
		"method": {{Method: "TRACE"}, {Method: "CONNECT"}, {Method: "{{method}}"}, {Method: "GET / HTTP/1.1\r\n"}},
		"url": {
			url("no address"), url("example.com"), url("//example.com"), url("ftp://example.com"), url("javascript:alert(1)"),
			url("{{url}}"), url("{{scheme}}://example.com"), url("https://{{host}}/"), url("https://example.{{tld}}/"),
			url("https://example.com:{{port}}/"), url("https://example.com{{path}}"), url("https://{{user}}@example.com/"),
			url("https://{{}}example.com/"), url("https:///path"), url("https://"), url("https://?x={{x}}"), url("https://a b/"),
			url("https://example.com/%zz"), url("https://example.com\\{{x}}/"), url("https://example.com/\n"),
			url("https://example.com/../x"), url("https://example.com/a/./x"), url("https://example.com/%2e%2e/x"),
			url("https://example.com/" + long),
		},
		"timeout":         {{Timeout: -1}},
		"headers":         {{Headers: make([]request.Pair, 100)}},
		"headers[1].name": {header("", "x"), header("a b", "x"), header("a\r\nb", "x"), header("{{x}}", "x"), header("Höhe", "x"), header("Host", "x"), header("content-length", "1"), header("TE", "x"), header("Transfer-Encoding", "chunked"), header("Connection", "close"), header(long, "x")},
		"headers[1].value": {
			header("X", "a\r\nb"), header("X", "a\x00"), header("X", "{{x}}\n"),
		},
		"query":         {{Query: make([]request.Pair, 100)}},
		"query[0].name": {{Query: []request.Pair{{Value: "x"}}}, {Query: []request.Pair{{Name: long}}}},
		"body": {
			body("", `{"a":`), body("", `[1,{{x}}`), body("", ` {"a":1{{x}}}`), body("", `{ {{x}}:1}`), body("", `{"a":-{{x}}}`),
			body("", `{"a":{{x}}{{y}}}`), body("", `{"a":"\{{x}}"}`), body("", `{"a":"\u00{{x}}"}`), body("", `{"a":tr{{x}}}`),
			body("", `{"a":{{x}}"b"}`), body("application/json", "text"), body("application/problem+json; charset=utf-8", "a={{x}}"),
			body("text/plain", long), body("", long),
		},
		"variables":         {{Variables: make([]request.Mapping, 100)}},
		"variables[1].name": {path("", "$.a"), path("}}", "$.a"), path(long, "$.a")},
		"variables[1].path": {
			path("x", ""), path("x", "a.b"), path("x", "$["), path("x", "$.a."), path("x", "$[(@.length-1)]"), path("x", "$.a.length()"),
			path("x", "$..a..b"), path("x", "$.a[?(@.b == $.c)]"), path("x", "$[0,0,0][0,0,0,0]"), path("x", "$."+long),
			path("x", "$.a[?(@.b =~ /(/)]"), path("x", "$[?"), path("x", "$.a[?(@.b"), path("x", "$\x00"),
			path("x", "$[?(@.a =~ /x{1000}/)]"), path("x", `$[?(@.a == /\pL\pL/)]`), path("x", `$[?(@.a =~ /\PL/)]`),
			path("x", "$[?match(@.a, @.b)]"), path("x", "$[?(search (@.a, 'x{1000}'))]"), path("x", "$[?(@.a =~ @.b)]"), path("x", "$[?(@.a ~= 'x')]"),
		},
	} {
		for _, s := range faulty {
			if s.URL == "" {
				s.URL = "https://example.com/{{x}}"
			}
			_, err := s.Parse()
			e, ok := errors.AsType[*callwright.Error](err)
			if !ok || e.Code != callwright.CodeBadRequest || e.Field != field || e.Message == "" {
				t.Errorf("%.80q: %v, want a fault of %s", s, err, field)
			}
		}
	}
}
