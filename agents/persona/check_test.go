package persona_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/conversation/endpoint"
	"github.com/callwright/callwright/agents/dialogue"
	"github.com/callwright/callwright/agents/persona"
	"github.com/callwright/callwright/agents/tool"
	"github.com/callwright/callwright/speech/tts"
)

// aTool returns a tool that sends its requests to a URL.
func aTool(name, url string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"name":%q,"description":"Looks.","url":%q}`, name, url))
}

// tools returns count tools with a total size of the given bytes.
func tools(count, bytes int) (all []json.RawMessage) {
	for i := range count {
		raw := string(aTool(fmt.Sprint("t", i), "https://x.example/"))
		size := bytes / count
		if i == 0 {
			size += bytes % count
		}
		all = append(all, json.RawMessage(raw[:len(raw)-1]+strings.Repeat(" ", size-len(raw))+"}"))
	}
	return all
}

func conditions(count int, c persona.Condition) (all []persona.Condition) {
	for range count {
		all = append(all, c)
	}
	return all
}

// TestRefusesPersonas checks permitted and refused values of a persona's fields, most of them at the limits.
func TestRefusesPersonas(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.create("Eva").Persona.ID
	long := func(n int) string { return strings.Repeat("\u00e9", n) }
	for name, test := range map[string]struct {
		change persona.Change
		field  string // field of the expected error; empty if the change is valid
	}{
		"a long name":              {persona.Change{Name: callwright.Given(long(persona.MaxName))}, ""},
		"no name":                  {persona.Change{Name: callwright.Cleared[string]()}, "name"},
		"a blank name":             {persona.Change{Name: callwright.Given(" \n")}, "name"},
		"too long a name":          {persona.Change{Name: callwright.Given(long(persona.MaxName + 1))}, "name"},
		"too long a role":          {persona.Change{Role: callwright.Given(long(persona.MaxRole + 1))}, "role"},
		"a long description":       {persona.Change{Description: callwright.Given(long(persona.MaxDescription))}, ""},
		"too long a description":   {persona.Change{Description: callwright.Given(long(persona.MaxDescription + 1))}, "description"},
		"many tags":                {persona.Change{Tags: callwright.Given(make50("x"))}, ""},
		"too many tags":            {persona.Change{Tags: callwright.Given(append(make50("x"), "y"))}, "tags"},
		"an empty tag":             {persona.Change{Tags: callwright.Given([]string{"x", " "})}, "tags[1]"},
		"too long a tag":           {persona.Change{Tags: callwright.Given([]string{long(persona.MaxTag + 1)})}, "tags[0]"},
		"a picture":                {persona.Change{ImageURL: callwright.Given("http://x.example/eva.png")}, ""},
		"too long a picture":       {persona.Change{ImageURL: callwright.Given("https://x.example/" + long(persona.MaxImageURL))}, "image_url"},
		"a script for a picture":   {persona.Change{ImageURL: callwright.Given("javascript:alert(1)")}, "image_url"},
		"a picture without a host": {persona.Change{ImageURL: callwright.Given("https:///eva.png")}, "image_url"},
		"a picture that is none":   {persona.Change{ImageURL: callwright.Given("https://x\x7f.example")}, "image_url"},
	} {
		checkUpdate(t, h, id, name, test.change, test.field)
	}
}

func make50(tag string) (tags []string) {
	for range persona.MaxTags {
		tags = append(tags, tag)
	}
	return tags
}

// TestRefusesVersions checks permitted and refused values of a version's fields, most of them at the limits.
func TestRefusesVersions(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.create("Eva").Persona.ID
	long := func(n int) string { return strings.Repeat("\u00e9", n) }
	order := persona.Condition{Pathway: "order", When: "They order."}
	when := func(c ...persona.Condition) persona.Change { return persona.Change{Conditions: callwright.Given(c)} }
	voice := func(c persona.CallChange) persona.Change { return persona.Change{Call: c} }
	use := func(raws ...json.RawMessage) persona.Change { return persona.Change{Tools: callwright.Given(raws)} }
	for name, test := range map[string]struct {
		change persona.Change
		field  string // field of the expected error; empty if the change is valid
	}{
		"a long prompt":            {prompt(long(persona.MaxPrompt)), ""},
		"too long a prompt":        {prompt(long(persona.MaxPrompt + 1)), "orchestration_prompt"},
		"a blank prompt":           {prompt(" "), "orchestration_prompt"},
		"no prompt":                {prompt(""), ""},
		"too long a personality":   {persona.Change{Personality: callwright.Given(long(persona.MaxPrompt + 1))}, "personality_prompt"},
		"a blank personality":      {persona.Change{Personality: callwright.Given("\n")}, "personality_prompt"},
		"many conditions":          {when(conditions(persona.MaxConditions, order)...), ""},
		"too many conditions":      {when(conditions(persona.MaxConditions+1, order)...), "pathway_conditions"},
		"a condition of nothing":   {when(order, persona.Condition{When: "They order."}), "pathway_conditions[1].pathway_id"},
		"a condition without when": {when(persona.Condition{Pathway: "order", When: " "}), "pathway_conditions[0].condition"},
		"too long a condition":     {when(persona.Condition{Pathway: "order", When: long(persona.MaxWhen + 1)}), "pathway_conditions[0].condition"},
		"too long an id":           {when(persona.Condition{Pathway: long(persona.MaxID + 1), When: "x"}), "pathway_conditions[0].pathway_id"},
		"knowledge bases":          {persona.Change{KnowledgeBases: callwright.Given([]string{"k"})}, "kb_ids"},
		"an empty knowledge base":  {persona.Change{KnowledgeBases: callwright.Given([]string{"k", ""})}, "kb_ids[1]"},
		"no knowledge bases":       {persona.Change{KnowledgeBases: callwright.Given([]string{})}, ""},
		"too many bases":           {persona.Change{KnowledgeBases: callwright.Given(make([]string, persona.MaxKnowledgeBases+1))}, "kb_ids"},
		"a voice":                  {voice(persona.CallChange{Voice: callwright.Given("slt")}), ""},
		"an unknown voice":         {voice(persona.CallChange{Voice: callwright.Given("robot")}), "call_config.voice"},
		"too long a voice":         {voice(persona.CallChange{Voice: callwright.Given(long(persona.MaxVoice + 1))}), "call_config.voice"},
		"another language":         {voice(persona.CallChange{Language: callwright.Given("de")}), "call_config.language"},
		"too long a language":      {voice(persona.CallChange{Language: callwright.Given(long(persona.MaxLanguage + 1))}), "call_config.language"},
		"a long call":              {voice(persona.CallChange{MaxDuration: callwright.Given(persona.LongestCall)}), ""},
		"too long a call":          {voice(persona.CallChange{MaxDuration: callwright.Given(persona.LongestCall + 1)}), "call_config.max_duration"},
		"less than no time":        {voice(persona.CallChange{MaxDuration: callwright.Given(-time.Second)}), "call_config.max_duration"},
		"a threshold":              {voice(persona.CallChange{Interruption: callwright.Given(conversation.MaxThreshold)}), ""},
		"too long a threshold":     {voice(persona.CallChange{Interruption: callwright.Given(conversation.MaxThreshold + 1)}), "call_config.interruption_threshold"},
		"a negative threshold":     {voice(persona.CallChange{Interruption: callwright.Given(-time.Second)}), "call_config.interruption_threshold"},
		"an interruptibility":      {voice(persona.CallChange{Interruptibility: callwright.Given(conversation.MaxInterruptibility)}), ""},
		"too high a level":         {voice(persona.CallChange{Interruptibility: callwright.Given(conversation.MaxInterruptibility + 1)}), "call_config.interruptibility"},
		"a negative level":         {voice(persona.CallChange{Interruptibility: callwright.Given(-1)}), "call_config.interruptibility"},
		"waits":                    {voice(persona.CallChange{LeastWait: callwright.Given(endpoint.MinWait), LongestWait: callwright.Given(endpoint.MaxWait)}), ""},
		"too short a wait":         {voice(persona.CallChange{LeastWait: callwright.Given(endpoint.MinWait - 1)}), "call_config.min_endpointing_delay"},
		"too long a wait":          {voice(persona.CallChange{LongestWait: callwright.Given(endpoint.MaxWait + 1)}), "call_config.max_endpointing_delay"},
		"idle settings":            {voice(persona.CallChange{Idle: callwright.Given(dialogue.Idle{Times: new(dialogue.MaxAsks)})}), ""},
		"a blank idle prompt":      {voice(persona.CallChange{Idle: callwright.Given(dialogue.Idle{Prompt: "  "})}), "call_config.idle.prompt"},
		"too many prompts":         {voice(persona.CallChange{Idle: callwright.Given(dialogue.Idle{Times: new(dialogue.MaxAsks + 1)})}), "call_config.idle.times"},
		"a voice setting":          {voice(persona.CallChange{VoiceSettings: callwright.Given(`{"speed":2}`)}), ""},
		"too fast a voice":         {voice(persona.CallChange{VoiceSettings: callwright.Given(`{"speed":2.1}`)}), "call_config.voice_settings.speed"},
		"a blank pronunciation":    {voice(persona.CallChange{Pronunciation: callwright.Given([]tts.Pronunciation{{Word: "a", Spoken: " "}})}), "call_config.pronunciation_guide[0].pronunciation"},
		"machines":                 {voice(persona.CallChange{Machines: callwright.Given(dialogue.Machines{Fax: dialogue.MachineIgnore})}), ""},
		"an unknown reaction":      {voice(persona.CallChange{Machines: callwright.Given(dialogue.Machines{Fax: dialogue.MachineMessage})}), "call_config.machines.fax"},
		"large tools":              {use(tools(8, persona.MaxTools)...), ""},
		"too large tools":          {use(tools(8, persona.MaxTools+1)...), "default_tools"},
		"too many tools":           {use(tools(tool.MaxTools+1, 10_000)...), "default_tools"},
		"a tool twice":             {use(aTool("a", "https://x.example"), aTool("a", "https://x.example")), "default_tools[1].name"},
		"an id for a tool":         {use(json.RawMessage(`"TL-1"`)), "default_tools[0]"},
		"a tool without a URL":     {use(aTool("a", "")), "default_tools[0].url"},
		"a forbidden URL":          {use(aTool("a", "https://x.example"), aTool("b", "http://x.example")), "default_tools[1].url"},
	} {
		checkUpdate(t, h, id, name, test.change, test.field)
	}
}

// checkUpdate checks that an update succeeds if field is empty, and otherwise is refused for the field and changes nothing.
func checkUpdate(t *testing.T, h *house, id, name string, c persona.Change, field string) {
	t.Helper()
	before, err := h.Get(t.Context(), org, id)
	if err != nil {
		t.Fatal(err)
	}
	_, err = h.Update(t.Context(), org, id, c)
	if field == "" {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return
	}
	wantError(t, name, err, callwright.CodeBadRequest, field)
	if after, err := h.Get(t.Context(), org, id); err != nil || !same(t, after, before) {
		t.Errorf("%s: it changed to %+v, %v", name, after, err)
	}
}

// TestCreateNamesEveryFault checks that Create reports all errors of a request together and stores nothing.
func TestCreateNamesEveryFault(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	_, err := h.Create(t.Context(), org, persona.Persona{ImageURL: "x"}, persona.Version{Orchestration: " ", Call: persona.CallConfig{MaxDuration: -1}})
	var all callwright.FieldErrors
	if !errors.As(err, &all) || len(all) != 4 {
		t.Fatalf("got %v", err)
	}
	for i, field := range []string{"name", "image_url", "orchestration_prompt", "call_config.max_duration"} {
		if all[i].Field != field {
			t.Errorf("fault %d is about %s, not %s", i, all[i].Field, field)
		}
	}
	if list, err := h.List(t.Context(), org, 1, 0); err != nil || len(list) != 0 {
		t.Errorf("kept %+v, %v", list, err)
	}
}

// TestReferences checks that references are checked when they are set and again when the draft is promoted.
func TestReferences(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.create("Eva").Persona.ID
	when := func(ids ...string) persona.Change {
		var all []persona.Condition
		for _, id := range ids {
			all = append(all, persona.Condition{Pathway: id, When: "They ask."})
		}
		return persona.Change{Conditions: callwright.Given(all)}
	}
	_, err := h.Update(t.Context(), org, id, when("order", "gone"))
	wantError(t, "an absent pathway", err, callwright.CodeNotFound, "pathway_conditions[1].pathway_id")
	_, err = h.Update(t.Context(), org, id, when("down"))
	wantError(t, "pathways that are down", err, callwright.CodeUnavailable, "pathway_conditions[0].pathway_id")
	_, err = h.Update(t.Context(), org, id, persona.Change{Call: persona.CallChange{Background: callwright.Given("street")}})
	wantError(t, "a background sound", err, callwright.CodeBadRequest, "call_config.background")
	known := pathways{"order": nil}
	h = newHouse(t, func(c *persona.Config) { c.Pathways = known })
	id = h.create("Eva").Persona.ID
	h.update(id, when("order", "order"))
	delete(known, "order")
	h.update(id, prompt("Sing."))
	_, err = h.Promote(t.Context(), org, id)
	wantError(t, "promoting what refers to a deleted pathway", err, callwright.CodeNotFound, "pathway_conditions[0].pathway_id")
	if r, err := h.Get(t.Context(), org, id); err != nil || r.Draft == nil || r.Production.Number != 1 {
		t.Errorf("it was promoted: %+v, %v", r, err)
	}
}

// TestWithoutPorts checks a server that has no ports to check references: tools and conditions are refused with CodeUnavailable, and any
// voice and language is accepted.
func TestWithoutPorts(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(c *persona.Config) { *c = persona.Config{Store: c.Store, Atomic: c.Atomic} })
	id := h.create("Eva").Persona.ID
	_, err := h.Update(t.Context(), org, id, persona.Change{Tools: callwright.Given([]json.RawMessage{aTool("a", "https://x.example/")})})
	wantError(t, "a tool", err, callwright.CodeUnavailable, "default_tools[0].url")
	_, err = h.Update(t.Context(), org, id, persona.Change{Conditions: callwright.Given([]persona.Condition{{Pathway: "order", When: "x"}})})
	wantError(t, "a condition", err, callwright.CodeUnavailable, "")
	r := h.update(id, persona.Change{Call: persona.CallChange{Voice: callwright.Given("any"), Language: callwright.Given("de")}})
	if r.Draft.Call.Voice != "any" || len(r.Numbers) != 0 {
		t.Errorf("got %+v", r)
	}
}

// TestBounds checks the maximum numbers of an organization's personas and of a persona's versions.
func TestBounds(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	last := h.create("Eva")
	for i := range persona.MaxPersonas - 1 {
		if err := h.store.InsertPersona(t.Context(), persona.Persona{ID: fmt.Sprint(i), Org: org}); err != nil {
			t.Fatal(err)
		}
	}
	one, v := persona.Persona{Name: "Eva"}, persona.Version{Orchestration: "Book tables."}
	_, err := h.Create(t.Context(), org, one, v)
	wantError(t, "one more persona", err, callwright.CodeInvalidState, "")
	if _, err := h.Create(t.Context(), "b", one, v); err != nil {
		t.Errorf("another organization got %v", err)
	}
	if err := h.Delete(t.Context(), org, last.Persona.ID); err != nil {
		t.Fatal(err)
	}
	r := h.create("Eva")
	full := *r.Production
	full.ID, full.Number = "full", persona.MaxVersions
	r.Persona.Production = "full"
	if err := errors.Join(h.store.InsertVersion(t.Context(), full), h.store.UpdatePersona(t.Context(), r.Persona)); err != nil {
		t.Fatal(err)
	}
	_, err = h.Update(t.Context(), org, r.Persona.ID, prompt("Sing."))
	wantError(t, "one more version", err, callwright.CodeInvalidState, "")
}

// TestLimitsOfCalls checks that the limits of personas fit the limits of agents, so that an agent can have all settings of a persona.
func TestLimitsOfCalls(t *testing.T) {
	t.Parallel()
	if persona.LongestCall != agents.LongestCall || persona.MaxTools != agents.MaxRequests || persona.MaxPrompt > agents.MaxTask ||
		persona.MaxPrompt != agents.MaxPersona || persona.MaxRead != agents.MaxRead {
		t.Error("what a persona may have, an agent must be able to have")
	}
}
