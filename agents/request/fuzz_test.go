package request_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/request"
)

// render returns the request that Do sends, or false if the source is invalid or Do sends no request. If Do sends no request, render checks
// that the log contains an error.
func render(t *testing.T, s request.Source, variables map[string]any) (request.Request, bool) {
	c, err := s.Parse()
	if err != nil {
		return request.Request{}, false
	}
	client := &agentstest.Requests{}
	log := c.Do(t.Context(), client, "org", "n", variables)
	if len(client.Made()) == 0 {
		if log.Error == "" {
			t.Error("nothing was sent, and no error is noted")
		}
		return request.Request{}, false
	}
	return client.Made()[0], true
}

// FuzzBody checks that a JSON body remains valid JSON for all values of its variables, and that an object remains an object.
func FuzzBody(f *testing.F) {
	f.Add(`{"a": "{{x}}", "b": [{{x}}, {{y}}], "{{y}}": "\"{{x}}\\"}`, `"}`, `{"a": [1]}`)
	f.Add(`{"a": 1{{x}}}`, "\\", "1e9")
	f.Add(`"\u{{x}}"`, "0041", `"x"`)
	f.Fuzz(func(t *testing.T, body, text, value string) {
		variables := map[string]any{"x": text}
		var y any
		if json.Unmarshal([]byte(value), &y) == nil {
			variables["y"] = y
		}
		s := request.Source{Method: "POST", URL: "https://example.com", Body: body, Headers: []request.Pair{{Name: "Content-Type", Value: "application/json"}}}
		with, sent := render(t, s, variables)
		if !sent || body == "" {
			return
		}
		without, _ := render(t, s, nil)
		if !json.Valid(with.Body) || !json.Valid(without.Body) {
			t.Errorf("%q became %q, and without variables %q", body, with.Body, without.Body)
		}
		if strings.HasPrefix(strings.TrimSpace(body), `{"`) && with.Body[0] != without.Body[0] {
			t.Errorf("%q became %q", body, with.Body)
		}
	})
}

// FuzzURL checks that, for all values of its variables, a URL keeps the scheme, user and host of its template, and has neither a fragment
// nor "." or ".." in its path. The query must contain the value, and headers no line breaks.
func FuzzURL(f *testing.F) {
	f.Add("https://example.com/{{x}}?y={{x}}#{{x}}", "@evil/../?#\\")
	f.Add("https://example.com/%{{x}}/.{{x}}", ".")
	f.Add("http://[::1]:80/{{ x }}{{}}", "\r\n")
	f.Fuzz(func(t *testing.T, address, value string) {
		s := request.Source{URL: address, Query: []request.Pair{{Name: "q", Value: "{{x}}"}}, Headers: []request.Pair{{Name: "X", Value: "{{x}}"}}}
		without, sent := render(t, s, map[string]any{"x": "x"})
		if !sent {
			return
		}
		want, err := url.Parse(without.URL)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(strings.ToLower(address), strings.ToLower(want.Host)) && want.Host != "" && !strings.ContainsAny(address, "%") {
			t.Errorf("%q goes to %q", address, want.Host)
		}
		with, sent := render(t, s, map[string]any{"x": value, "": value})
		if !sent {
			return
		}
		got, err := url.Parse(with.URL)
		if err != nil {
			t.Fatalf("%q with %q became %q: %v", address, value, with.URL, err)
		}
		if got.Scheme != want.Scheme || got.Host != want.Host || got.User.String() != want.User.String() || got.Fragment != "" {
			t.Errorf("%q with %q became %q", address, value, with.URL)
		}
		for segment := range strings.SplitSeq(got.Path, "/") {
			if segment == ".." || segment == "." {
				t.Errorf("%q with %q became %q", address, value, with.URL)
			}
		}
		if q := got.Query()["q"]; len(q) == 0 || q[len(q)-1] != value {
			t.Errorf("%q with %q became %q: the query has %q", address, value, with.URL, q)
		}
		if strings.ContainsAny(with.Header[0].Value, "\r\n\x00") {
			t.Errorf("the header is %q", with.Header[0].Value)
		}
	})
}

// FuzzPath checks that no path causes a panic, and that the sizes of the results are bounded.
func FuzzPath(f *testing.F) {
	for _, path := range []string{"$.a", "$..a", "$[?(@.a > 1)]", "$[0:1:-1]", "$['a'][*]", "$[?(@.a =~ /x/)]", "$[?(length(@)==1)]"} {
		f.Add(path, `{"a": [1, {"a": "x"}]}`)
	}
	f.Fuzz(func(t *testing.T, path, answer string) {
		c, err := request.Source{URL: "https://example.com", Variables: []request.Mapping{{Name: "x", Path: path}}}.Parse()
		if err != nil {
			return
		}
		log := c.Do(t.Context(), &agentstest.Requests{Answer: agentstest.JSON(answer)}, "org", "n", nil)
		text, err := json.Marshal(log.Variables)
		if err != nil || len(text) > 256<<10 || len(log.Body) > 4<<10 || len(log.Body) > 0 && !json.Valid(log.Body) {
			t.Errorf("%q took %d bytes, %v", path, len(text), err)
		}
	})
}
