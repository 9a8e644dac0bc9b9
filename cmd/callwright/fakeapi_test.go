package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/callwright/callwright"
)

// operation is an operation of the contract, with the status and the body of its example.
type operation struct {
	method string
	path   []string // segments; {id} matches any segment
	status int
	answer []byte
}

// contract returns the operations of the contract whose successful response contains an example.
var contract = sync.OnceValue(func() (all []operation) {
	var doc struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct {
				Content map[string]struct {
					Example any `yaml:"example"`
				} `yaml:"content"`
			} `yaml:"responses"`
		} `yaml:"paths"`
	}
	if err := yaml.Unmarshal([]byte(callwright.OpenAPI), &doc); err != nil {
		panic(err)
	}
	statuses := map[string]int{"200": http.StatusOK, "201": http.StatusCreated, "202": http.StatusAccepted}
	for path, methods := range doc.Paths {
		for method, o := range methods {
			for name, status := range statuses {
				if example := o.Responses[name].Content["application/json"].Example; example != nil {
					answer, err := json.Marshal(example)
					if err != nil {
						panic(err)
					}
					all = append(all, operation{strings.ToUpper(method), strings.Split(path, "/"), status, answer})
				}
			}
		}
	}
	return all
})

// fits returns how many segments the operation's path and the request's path share. It returns -1 if the method or the number of segments
// differs, or if a segment that is no parameter does not match.
func (o operation) fits(r *http.Request) int {
	segments := strings.Split(r.URL.EscapedPath(), "/")
	if o.method != r.Method || len(segments) != len(o.path) {
		return -1
	}
	same := 0
	for i, s := range o.path {
		switch {
		case s == segments[i]:
			same++
		case !strings.HasPrefix(s, "{"):
			return -1
		}
	}
	return same
}

// silence is the header of a WAV file of 100 samples.
const silence = "RIFF\xec\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data\xc8\x00\x00\x00"

func wav() string { return silence + strings.Repeat("\x00", 200) }

// serveExamples starts a server that answers with the examples of the contract, with a WAV file for audio, and with an empty list for the
// second page of a list. It answers 418 if there is no example, or if a request for an example lacks the key. If status is 400 or higher,
// it answers every request with this status and an error.
func serveExamples(t *testing.T, status int) (url string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if status >= http.StatusBadRequest {
			w.Header().Set("Retry-After", "600")
			answerJSON(w, status, []byte(`{"data":null,"errors":[{"error":"TEAPOT","message":"the example says no","path":"number"}]}`))
			return
		}
		if strings.HasPrefix(r.URL.Path, "/v1/recordings/") || r.URL.Query().Get("format") == "audio" {
			w.Header().Set("Content-Type", "audio/wav")
			_, _ = w.Write([]byte(wav()))
			return
		}
		best, found := operation{}, -1
		for _, o := range contract() {
			if n := o.fits(r); n > found {
				best, found = o, n
			}
		}
		if found < 0 || r.Header.Get("Authorization") != "Bearer "+exampleKey {
			answerJSON(w, http.StatusTeapot, []byte(`{"data":null,"errors":[{"error":"TEAPOT","message":"no such example"}]}`))
			return
		}
		text := strings.ReplaceAll(string(best.answer), "https://api.example.com", "http://"+r.Host)
		if r.URL.Query().Get("offset") == "1" { // the second page of a list is empty
			text = `{"data":[],"errors":null,"total":1,"limit":100,"offset":1}`
		}
		answerJSON(w, best.status, []byte(text))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

const exampleKey = "cw_example_key"

func answerJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
