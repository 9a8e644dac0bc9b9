package join_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
)

// The nodes and edges of a pathway that sets every member that the evidence describes. Members that the evidence must omit contain marker.
var (
	clinicNodes = []string{
		`{"globalConfig":{"globalPrompt":"Be brief."}}`,
		`{"id":"ask","type":"Default","data":{"name":"Ask","isStart":true,"prompt":"Ask for the day.","condition":"a day is known",
			"extractVars":[["day","string","the weekday"]],"` + marker + `":"` + marker + `","tools":[{"name":"look","description":"` + marker + `",
			"url":"https://example.com/` + marker + `","headers":{"X-Key":"` + marker + `"},"query":{"key":"` + marker + `"}}]}}`,
		`{"id":"slots","type":"Webhook","data":{"name":"Slots","text":"One moment.","url":"https://example.com/` + marker + `?key=` + marker + `",
			"method":"POST","headers":{"Authorization":"Bearer ` + marker + `"},"body":"{\"key\":\"` + marker + `\"}",
			"responseData":[{"name":"free","data":"$.` + marker + `","context":"How many."}],
			"responsePathways":[["free",">","0",{"id":"bye","name":"Bye"}]]}}`,
		`{"id":"cost","type":"Knowledge Base","data":{"name":"Cost","isGlobal":true,"globalLabel":"asks for the price",
			"prompt":"Answer.","kb":"It is thirty.","enableGlobalAutoReturn":true}}`,
		`{"id":"bye","type":"End Call","data":{"text":"Bye."}}`,
	}
	clinicEdges = []string{
		`{"id":"e1","source":"ask","target":"slots","data":{"label":"the day is known","description":"any day","` + marker + `":"` + marker + `"}}`,
		`{"id":"e2","source":"slots","target":"bye","data":{"label":"nothing is free","alwaysPick":true}}`,
	}
)

func TestReadPathway(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	p := h.draw(clinicNodes, clinicEdges)
	e, text := h.read(h.pathways, p.ID)
	checkSecrets(t, e, text)
	for name, want := range map[string]any{
		"name": "Clinic", "description": "Takes bookings.", "version": "the draft", "instructions": "Be brief.", "start": "ask",
		"node ask": map[string]any{
			"type": "Default", "name": "Ask", "prompt": "Ask for the day.", "condition": "a day is known",
			"finds_out": []any{map[string]any{"name": "day", "type": "string", "description": "the weekday"}},
			"ways":      []any{map[string]any{"to": "slots", "when": "the day is known", "description": "any day"}},
		},
		"node slots": map[string]any{
			"type": "Webhook", "name": "Slots", "text": "One moment.",
			"branches": []any{map[string]any{"if": "free > 0", "to": "bye"}},
			"ways":     []any{map[string]any{"to": "bye", "when": "nothing is free", "always": true}},
		},
		"node cost": map[string]any{
			"type": "Knowledge Base", "name": "Cost", "prompt": "Answer.", "knowledge": "It is thirty.", "global": true,
			"when": "asks for the price", "returns": true,
		},
		"node bye": map[string]any{"type": "End Call", "text": "Bye."},
	} {
		if !reflect.DeepEqual(e.Facts[name], want) {
			t.Errorf("%s is\n%v, want\n%v", name, e.Facts[name], want)
		}
	}
	if e.Facts["nodes_left_out"] != nil || len(e.Lines) != 0 {
		t.Errorf("read %v", e)
	}
}

// TestReadPathwayInProduction checks that the evidence describes the version in production and not the draft.
func TestReadPathwayInProduction(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	p := h.draw(clinicNodes, clinicEdges)
	simple := document([]string{`{"id":"only","type":"End Call","data":{"isStart":true,"text":"Bye."}}`}, nil)
	for range 2 {
		if _, err := h.pathways.Service.StoreVersion(t.Context(), org, p.ID, "Simple", simple); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := h.pathways.Service.Publish(t.Context(), org, p.ID, pathway.Publication{Number: 2}); err != nil {
		t.Fatal(err)
	}
	e, _ := h.read(h.pathways, p.ID)
	if e.Facts["version"] != "version 2, in production" || e.Facts["node only"] == nil || e.Facts["node ask"] != nil {
		t.Errorf("read %v", e.Facts)
	}
}

// TestReadEmptyPathway checks that Read returns evidence and not an error for a pathway without nodes.
func TestReadEmptyPathway(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	p := h.draw(nil, nil)
	e, _ := h.read(h.pathways, p.ID)
	if e.Facts["name"] != "Clinic" || e.Facts["error"] == nil {
		t.Errorf("read %v", e.Facts)
	}
}

// TestReadLargePathways checks that the facts occupy at most 64 KiB of JSON and count the omitted nodes. Long texts are clipped before
// nodes are omitted.
func TestReadLargePathways(t *testing.T) {
	t.Parallel()
	long := func(size int) string { return strings.Repeat("<\u00e9>", size/4) }
	for name, test := range map[string]struct {
		nodes, text int
		whole       bool // no node is omitted
		uncut       bool // no text is clipped
	}{
		"as long as it may be": {1, 15_000 / 4, true, true},
		"one long node":        {1, 30_000, true, false},
		"some long nodes":      {30, 30_000, true, false},
		"many short nodes":     {100, 100, true, true},
		"many nodes":           {450, 1000, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			var nodes, edges []string
			for i := range test.nodes {
				nodes = append(nodes, fmt.Sprintf(`{"id":"n%d","type":"Default","data":{"isStart":%t,"text":%q}}`, i, i == 0, long(test.text)))
				if i > 0 {
					edges = append(edges, fmt.Sprintf(`{"id":"e%d","source":"n%d","target":"n%d","data":{"label":"on"}}`, i, i-1, i))
				}
			}
			e, _ := h.read(h.pathways, h.draw(nodes, edges).ID)
			raw, err := json.Marshal(e.Facts)
			if err != nil || len(raw) > 64<<10 {
				t.Errorf("the facts have %d bytes, %v", len(raw), err)
			}
			told := 0
			for name := range e.Facts {
				if strings.HasPrefix(name, "node ") {
					told++
				}
			}
			missing, _ := e.Facts["nodes_left_out"].(int)
			if told+missing != test.nodes || (missing == 0) != test.whole || e.Facts["node n0"] == nil {
				t.Errorf("%d of %d nodes are told, %d said to be missing", told, test.nodes, missing)
			}
			first, _ := e.Facts["node n0"].(map[string]any)
			if got := fmt.Sprint(first["text"]); (got == long(test.text)) != test.uncut || !strings.HasPrefix(got, "<é") {
				t.Errorf("of %d bytes of text %d are told", len(long(test.text)), len(got))
			}
		})
	}
}

func TestFindPathways(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	p := h.draw(clinicNodes, clinicEdges)
	found, err := h.pathways.Find(t.Context(), org, []string{p.ID, "absent"})
	if err != nil || len(found) != 1 || found[p.ID].Title != "Clinic" || found[p.ID].Metadata["latest_version"] != 0 ||
		!strings.HasSuffix(fmt.Sprint(found[p.ID].Metadata["created_at"]), "Z") {
		t.Errorf("found %v, %v", found, err)
	}
	if found, err := h.pathways.Find(t.Context(), "b", []string{p.ID}); err != nil || len(found) != 0 {
		t.Errorf("another finds %v, %v", found, err)
	}
	if _, err := h.pathways.Read(t.Context(), "b", p.ID); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("another reads %v", err)
	}
}
