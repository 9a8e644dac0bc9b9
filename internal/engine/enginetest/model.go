package enginetest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Wild writes the answer of a file in testdata/wild: the body of a stream (.sse), or a status, headers and a body (.http). The answer has a
// fixed Date.
func Wild(t *testing.T, w http.ResponseWriter, name string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "wild", name))
	if err != nil {
		t.Error(err)
		return
	}
	if strings.HasSuffix(name, ".sse") {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(raw)
		return
	}
	head, body, _ := bytes.Cut(bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n")), []byte("\n\n"))
	lines := strings.Split(string(head), "\n")
	status, err := strconv.Atoi(strings.Fields(lines[0])[1])
	if err != nil {
		t.Error(err)
	}
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ": ")
		w.Header().Set(name, value)
	}
	w.Header().Set("Date", "Thu, 26 Nov 2026 11:29:30 GMT")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// Fit returns a JSON object that fits a schema: for each property, the first value of its enum or a constant of its first type.
func Fit(schema map[string]any) string {
	out := map[string]any{}
	properties, _ := schema["properties"].(map[string]any)
	for name, p := range properties {
		property, _ := p.(map[string]any)
		if enum, ok := property["enum"].([]any); ok {
			out[name] = enum[0]
			continue
		}
		kind := property["type"]
		if list, ok := kind.([]any); ok {
			kind = list[0]
		}
		out[name] = map[any]any{"string": "text", "integer": 5, "number": 0.5, "boolean": true}[kind]
	}
	raw, err := json.Marshal(out)
	if err != nil {
		panic(err)
	}
	return string(raw)
}
