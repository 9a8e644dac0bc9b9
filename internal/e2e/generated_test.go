package e2e_test

import (
	"encoding/json"
	"io"
	"net/http"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/bunstore/pgtest"
	"github.com/callwright/callwright/internal/contracttest"
	"github.com/callwright/callwright/internal/e2e/server"
	"github.com/callwright/callwright/transport/oas/portingoas"
)

// generatedEach is the number of valid requests, and of changed requests, that TestGeneratedRequests sends for each operation.
const generatedEach = 5

// TestGeneratedRequests sends requests that are generated from the contract for every operation, to a server on each database. It checks
// that the contract lists every answer, and that no answer is a server error except 501.
func TestGeneratedRequests(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		seed  uint64
		flags []string
	}{
		"SQLite":     {1, nil},
		"PostgreSQL": {2, []string{"--database-url", pgtest.DSN(t)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// This DNS server does not answer, so that no host name resolves.
			s := server.Start(t, server.Config{Flags: append(test.flags, "--dns-server", "127.0.0.1:9")})
			s.AttachInbound(t, ours.String())
			s.AttachOutbound(t, ours.String(), "sip:127.0.0.1:9;transport=tls")
			begun, err := s.API.InitiatePort(t.Context(), portOf(uploadBill(t, s), theirs.String()), portingoas.InitiatePortParams{})
			if err != nil {
				t.Fatal(err)
			}
			seen := ids{
				"phone_number": {ours.String()}, "from": {ours.String()}, "documents": {uploadBill(t, s)}, "token": {path.Base(begun.Data.SignatureURL.Value)},
				"port_request_id": {begun.Data.PortRequestID},
			}
			good := 0
			client := http.Client{Transport: contracttest.Transport(t, http.DefaultTransport), Timeout: time.Minute}
			contracttest.NewGenerator(test.seed, seen.of).Each(generatedEach, func(g contracttest.Request) {
				if g.Streams {
					g.Method = http.MethodHead // the answer to GET would not end
				}
				r, err := http.NewRequestWithContext(t.Context(), g.Method, s.URL+g.Target, strings.NewReader(g.Body))
				if err != nil {
					return // no client can send this path
				}
				r.Header = g.Header
				r.Header.Set("Authorization", s.Key)
				answer, err := client.Do(r)
				if err != nil {
					t.Fatalf("%s: %v", g.Operation, err)
				}
				defer func() { _ = answer.Body.Close() }()
				text, err := io.ReadAll(answer.Body)
				if err != nil {
					t.Fatalf("%s: %v", g.Operation, err)
				}
				if answer.StatusCode >= 500 && answer.StatusCode != http.StatusNotImplemented || t.Failed() {
					t.Fatalf("%s %s\n%.1000s\nchange: %s\nanswer: %d %s", g.Method, g.Target, g.Body, g.Change, answer.StatusCode, text)
				}
				if answer.StatusCode < 300 {
					good++
				}
				var value any
				if json.Unmarshal(text, &value) == nil {
					seen.add(areaOf(g.Path), "", value)
				}
			})
			if good < 50 {
				t.Errorf("only %d requests got what they asked for", good)
			}
		})
	}
}

// ids holds the latest ids in answers, by member name, or by area for members named "id".
type ids map[string][]string

// areaOf returns the first two segments of a path, such as /v1/calls.
func areaOf(path string) string {
	segments := strings.Split(path, "/")
	return strings.Join(segments[:min(3, len(segments))], "/")
}

// testIDs maps a path segment of agent testing to the name of the ids that follow it.
var testIDs = map[string]string{"scenarios": "scenario_id", "runs": "run_id", "batches": "batch_id", "simulation-sets": "simulation_set_id"}

// of returns known values for a parameter or a member. contracttest.NewGenerator receives this method as its argument known.
func (all ids) of(path, _, _, name string) []string {
	if rest, ok := strings.CutPrefix(path, "/v1/agent-testing/"); ok && name == "id" {
		of, _, _ := strings.Cut(rest, "/")
		return all[testIDs[of]]
	}
	if name == "id" && strings.HasPrefix(path, "/v1/personas/") {
		return all["persona_id"] // the area also contains ids of versions
	}
	if name == "id" && strings.HasPrefix(path, "/v1/sip/port/") {
		return all["port_request_id"]
	}
	if name == "id" {
		return all[areaOf(path)]
	}
	return all[name]
}

// add stores the ids in an answer.
func (all ids) add(area, name string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			all.add(area, name, member)
		}
		if _, ok := value["scenario_type"]; ok {
			all.add(area, "scenario_id", value["id"]) // its assertions also have ids
		}
	case []any:
		for _, item := range value {
			all.add(area, name, item)
		}
	case string:
		switch {
		case name == "id":
			name = area
		case !strings.HasSuffix(name, "_id"):
			return
		}
		const most = 5
		all[name] = append(all[name], value)
		all[name] = all[name][max(0, len(all[name])-most):]
	}
	if name == "pathway_id" {
		all["/v1/pathway"] = all[name]
	}
}
