package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/callwright/callwright/internal/contracttest"
)

// generatedSeed and generatedEach determine the requests of TestGeneratedRequests. For each operation, the test makes generatedEach valid
// requests and as many altered ones.
const (
	generatedSeed = 1
	generatedEach = 30
)

// TestGeneratedRequests generates requests for every operation from the contract. It checks that each answer has a form in the contract,
// and is not a server error other than 501 and 503.
func TestGeneratedRequests(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.looker.answer()
	organizations := &worlds{h: h}
	w := organizations.next()
	known := func(path, operation, _, name string) []string {
		before, _, _ := strings.Cut(path, "{"+name+"}")
		for _, key := range []string{before + "{" + name + "}", operation + "." + name, name} {
			if kind := kinds[key]; kind != "" {
				return []string{w.id(kind), absent(w.id(kind))}
			}
		}
		return nil
	}
	good, operation := 0, ""
	contracttest.NewGenerator(generatedSeed, known).Each(generatedEach, func(g contracttest.Request) {
		if g.Operation != operation { // the previous operation may have deleted objects of the world
			operation, w = g.Operation, organizations.next()
			for kind := range makers { // creates all objects before any request changes them
				w.id(kind)
			}
		}
		method := g.Method
		if g.Streams {
			method = http.MethodHead // GET would not end
		}
		r, err := http.NewRequestWithContext(t.Context(), method, "http://x"+g.Target, strings.NewReader(g.Body))
		if err != nil {
			return // no client can send this path
		}
		r.Header = g.Header
		r.Header.Set("Authorization", w.key)
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, r)
		keepsContract(t, httptest.NewRequestWithContext(t.Context(), g.Method, parameters.ReplaceAllString(g.Path, "1"), nil), answer)
		if answer.Code < 300 {
			good++
		}
		if answer.Code >= 500 && answer.Code != http.StatusNotImplemented && answer.Code != http.StatusServiceUnavailable {
			t.Errorf("%s answers %d", g.Operation, answer.Code)
		}
		if t.Failed() {
			t.Fatalf("%s %s\n%.1000s\nchange: %s\nanswer: %d %s\nlog: %s", g.Method, g.Target, g.Body, g.Change, answer.Code, answer.Body, lastLine(h.log.String()))
		}
	})
	if good < 100 {
		t.Errorf("only %d requests got what they asked for", good)
	}
}

var parameters = regexp.MustCompile(`\{[^}]*\}`)

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndex(text, "\n")+1:]
}
