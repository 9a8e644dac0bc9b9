package client_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/client"
)

func TestErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
		want   client.Error
	}{
		"A":           {404, `{"data":null,"errors":[{"error":"NOT_FOUND","message":"voice not found"}]}`, client.Error{Code: "NOT_FOUND", Message: "voice not found"}},
		"A, path":     {400, `{"data":null,"errors":[{"error":"BAD_REQUEST","message":"a: x","path":"a"},{"error":"BAD_REQUEST","message":"b: y","path":"b"}]}`, client.Error{Code: "BAD_REQUEST", Message: "a: x\nb: y", Field: "a"}},
		"B":           {400, `{"status":"error","message":"x","errors":[{"error":"BAD_REQUEST","message":"x","field":"a"}]}`, client.Error{Code: "BAD_REQUEST", Message: "x", Field: "a"}},
		"B, texts":    {400, `{"status":"error","message":"bad","errors":["one","two"]}`, client.Error{Message: "one\ntwo"}},
		"B, none":     {500, `{"status":"error","message":"bad","errors":[]}`, client.Error{Message: "bad"}},
		"B, no texts": {500, `{"status":"error","message":"bad","errors":[{"error":"X"}]}`, client.Error{Code: "X", Message: "bad"}},
		"bare":        {429, `{"error":"concurrency_limit_reached","limit":5,"message":"slow down"}`, client.Error{Code: "concurrency_limit_reached", Message: "slow down"}},
		"lower case":  {404, `{"data":null,"errors":[{"error":"not_found","message":"Issue not found"}]}`, client.Error{Code: "not_found", Message: "Issue not found"}},
		"success":     {200, `{"data":null,"errors":[{"error":"NOT_FOUND","message":"gone"}]}`, client.Error{Code: "NOT_FOUND", Message: "gone"}},
		"page":        {502, `<html>bad gateway`, client.Error{Message: "Bad Gateway"}},
		"nothing":     {501, ``, client.Error{Message: "Not Implemented"}},
		"odd status":  {599, ``, client.Error{Message: "the server gave no reason"}},
		"wrong types": {400, `{"errors":{"error":1},"message":[],"error":{}}`, client.Error{Message: "Bad Request"}},
		"null error":  {400, `{"errors":[null,5]}`, client.Error{Message: "Bad Request"}},
		"terminal":    {400, `{"message":"a\u001b[2Jb\u202e"}`, client.Error{Message: "a\ufffd[2Jb\ufffd"}},
		"echo":        {400, `{"message":"you sent cwk_test-key"}`, client.Error{Message: "you sent " + callwright.Redacted}},
	} {
		cl, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Request-ID", "r1")
			w.Header().Set("Retry-After", "7")
			reply(w, c.status, c.body)
		})
		_, direct := cl.GetVoice(t.Context(), "Ines")
		_, raw := cl.Do(t.Context(), client.Request{Path: "/v1/voices/Ines"})
		_, generated := cl.Speech().ListVoices(t.Context())
		for _, err := range []error{direct, raw, generated} {
			got, ok := errors.AsType[*client.Error](err)
			if !ok || got.Status != c.status || got.Code != c.want.Code || got.Message != c.want.Message || got.Field != c.want.Field {
				t.Fatalf("%s: got %#v (%v)", name, got, err)
			}
			if string(got.Body) != strings.ReplaceAll(c.body, key.Reveal(), callwright.Redacted) || got.RequestID != "r1" || got.RetryAfter != 7*time.Second {
				t.Errorf("%s: body %s, id %s, %s", name, got.Body, got.RequestID, got.RetryAfter)
			}
			if errors.Is(err, callwright.ErrNotFound) != strings.EqualFold(c.want.Code, "NOT_FOUND") {
				t.Errorf("%s: %v is not what errors.Is says", name, err)
			}
		}
		if want := "GET /v1/voices/Ines: "; !strings.HasPrefix(direct.Error(), want) {
			t.Errorf("%s: %s", name, direct)
		}
	}
}

func TestErrorBodiesAreBounded(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		reply(w, 500, `{"message":"`+strings.Repeat("é", client.MaxErrorBody)+`"}`)
	})
	_, err := c.GetVoice(t.Context(), "Ines")
	if e, ok := errors.AsType[*client.Error](err); !ok || len(e.Body) != client.MaxErrorBody || e.Message != "Internal Server Error" {
		t.Errorf("got %v", err)
	}
	c, _ = serve(t, func(w http.ResponseWriter, _ *http.Request) {
		reply(w, 500, `{"message":"`+strings.Repeat("é", 20_000)+`"}`)
	})
	_, err = c.GetVoice(t.Context(), "Ines")
	if e, ok := errors.AsType[*client.Error](err); !ok || len(e.Message) > 4<<10 || !utf8.ValidString(e.Message) {
		t.Errorf("got %v", err)
	}
}

// FuzzErrors checks that every failed request results in an Error with the status of the answer, a printable and non-empty message, and no
// negative RetryAfter.
func FuzzErrors(f *testing.F) {
	for _, body := range []string{
		"", "{}", "[]", `{"errors":[{"error":"X","message":"y","path":"z"}]}`, `{"errors":["x"]}`, `{"error":"x","message":"y"}`,
		`{"errors":[[[]]],"message":{}}`, "\xff", `{"message":"\ud800\u001b"}`,
	} {
		f.Add(400, body, "3")
		f.Add(200, body, "Fri, 31 Dec 1999 23:59:59 GMT")
	}
	f.Fuzz(func(t *testing.T, status int, body, after string) {
		header := http.Header{"Retry-After": {after}, "Content-Type": {"application/json"}}
		c, err := client.New(client.Config{APIKey: key, Retry: client.Retry{Tries: 1}, HTTP: &http.Client{Transport: trip(func(*http.Request) (*http.Response, error) {
			return answer(status, body, header), nil
		})}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Do(t.Context(), client.Request{Path: "/v1/voices"})
		if err == nil && status >= 200 && status < 300 {
			return
		}
		e, ok := errors.AsType[*client.Error](err)
		if !ok || e.Status != status || e.Message == "" || !utf8.ValidString(e.Error()) || e.RetryAfter < 0 ||
			strings.ContainsFunc(e.Error(), func(c rune) bool { return c != '\n' && callwright.Hidden(c) }) {
			t.Errorf("got %#v", err)
		}
	})
}
