package pathways_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"path"
	"testing"

	"github.com/callwright/callwright/internal/browser"
)

// tuned is a node whose members are in an unusual order and include one that this program does not know.
const tuned = `{"data":{"text":"Which day?","modelOptions":{"block_interruptions":true,"note":"x","interruptionThreshold":250},"name":"Day","isStart":true},"type":"Default","id":"day"}`

// TestNodeForm sets the conversation settings of a node in the editor's form. The other members of the node must keep their values and order.
func TestNodeForm(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	text := `{"nodes":[` + tuned + `,{"id":"bye","type":"End Call","data":{"text":"Goodbye."}}],"edges":[{"id":"e1","source":"day","target":"bye","data":{"label":"a day"}}]}`
	at := h.create(text)
	draft := at + "/versions/0?node=day"
	h.want(draft, nil, http.StatusOK, "Conversation at Day", `<option value="0" selected>Never</option>`, `name="interruption_threshold" value="250"`)
	h.lacks(at+"/versions/0", "Conversation at")
	stored := func() string {
		t.Helper()
		v, _, err := h.pathways.Version(t.Context(), "acme", path.Base(at), 0)
		if err != nil {
			t.Fatal(err)
		}
		return string(v.Document.Nodes[0])
	}
	form := url.Values{
		"document": {text}, "as": {"draft"}, "with_node": {"1"}, "interruptibility": {"0"}, "interruption_threshold": {"250"},
		"min_endpointing_delay": {""}, "max_endpointing_delay": {""},
	}
	h.want(draft, form, http.StatusOK, "The draft is saved.")
	if got := stored(); got != tuned {
		t.Errorf("an unchanged form makes %s", got)
	}
	form.Set("interruptibility", "many")
	h.want(draft, form, http.StatusUnprocessableEntity, `id="fault-interruptibility">must be a whole number`)
	form.Set("interruptibility", "1")
	form.Set("interruption_threshold", "")
	form.Set("min_endpointing_delay", "450,5")
	form.Set("max_endpointing_delay", "4000")
	h.want(draft, form, http.StatusOK, "The draft is saved.")
	const want = `{"data":{"text":"Which day?","modelOptions":{"interruptibility":1,"max_endpointing_delay":4000,"min_endpointing_delay":450.5,"note":"x"},"name":"Day","isStart":true},"type":"Default","id":"day"}`
	if got := stored(); got != want {
		t.Errorf("the node is\n%s, want\n%s", got, want)
	}
	h.want(draft, nil, http.StatusOK, `name="min_endpointing_delay" value="450.5"`)
	form.Set("document", `{"nodes":[{"id":"day","type":"Default","data":{"isStart":true,"text":"Which day?"}}],"edges":[]}`)
	form.Set("interruptibility", "0")
	h.want(draft, form, http.StatusOK, "The draft is saved.")
	var node struct {
		Data struct {
			Options struct {
				Interruptibility *int `json:"interruptibility"`
			} `json:"modelOptions"`
		} `json:"data"`
	}
	if err := json.Unmarshal([]byte(stored()), &node); err != nil || node.Data.Options.Interruptibility == nil || *node.Data.Options.Interruptibility != 0 {
		t.Errorf("the node is %s, %v", stored(), err)
	}
}

// TestNodeInBrowser sets the interruptibility of a node in a browser, and finds it when the node is selected again.
func TestNodeInBrowser(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	at := h.create(days)
	p := browser.Open(t, true)
	p.Go(t, h.url+at+"/versions/0?node=bye")
	p.Click(t, "#conversation summary")
	p.Fill(t, "Who talks over the agent interrupts it", "Never")
	p.ClickText(t, "Save as the draft")
	p.AwaitText(t, "The draft is saved.")
	p.Go(t, h.url+at+"/versions/0?node=bye")
	if level := browser.Eval[string](t, p, `document.querySelector('#conversation[open] [name="interruptibility"]').value`); level != "0" {
		t.Errorf("the level is %q", level)
	}
	for _, v := range p.Axe(t, "main") {
		t.Error(v)
	}
	for _, fault := range browser.Validate(t, map[string]string{"node": h.want(at+"/versions/0?node=bye", nil, http.StatusOK)}) {
		t.Error(fault)
	}
}
