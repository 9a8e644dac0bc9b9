package agents_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
)

// TestUpdateStoresNothingThatNoCallCouldHave checks that an update refuses each invalid setting by its name, applies the others, and stores
// no refused value.
func TestUpdateStoresNothingThatNoCallCouldHave(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		patch   agents.Patch
		refused agents.Setting
	}{
		"a task beside a pathway": {
			agents.Patch{Task: callwright.Given("Sell."), Pathway: callwright.Given("p1")}, agents.SettingTask,
		},
		"a negative duration": {agents.Patch{MaxDuration: callwright.Given(-time.Second)}, agents.SettingMaxDuration},
		"a long duration":     {agents.Patch{MaxDuration: callwright.Given(13 * time.Hour)}, agents.SettingMaxDuration},
		"an ftp webhook":      {agents.Patch{Webhook: callwright.Given("ftp://example.com/")}, agents.SettingWebhook},
		"a blank task":        {agents.Patch{Task: callwright.Given(" ")}, agents.SettingTask},
		"a long task":         {agents.Patch{Task: callwright.Given(strings.Repeat("x", agents.MaxTask+1))}, agents.SettingTask},
		"a long persona":      {agents.Patch{Persona: callwright.Given(strings.Repeat("x", agents.MaxPersona+1))}, agents.SettingPersona},
		"an absent pathway":   {agents.Patch{Pathway: callwright.Given("p2")}, agents.SettingPathway},
		"a version of none":   {agents.Patch{PathwayVersion: callwright.Given(pathway.Selector{Number: 1})}, agents.SettingPathwayVersion},
		"an absent node": {
			agents.Patch{Pathway: callwright.Given("p1"), StartNode: callwright.Given("end")}, agents.SettingStartNode,
		},
		"a version of none any more": {
			agents.Patch{Pathway: callwright.Optional[string]{Set: true}, PathwayVersion: callwright.Given(pathway.Selector{Environment: pathway.Production})},
			agents.SettingPathwayVersion,
		},
		"a number of nobody": {agents.Patch{TransferTo: callwright.Given(callwright.PhoneNumber("nobody"))}, agents.SettingTransferTo},
		"a hot temperature":  {agents.Patch{Temperature: callwright.Given(1.5)}, agents.SettingTemperature},
		"long patience":      {agents.Patch{Interruption: callwright.Given(time.Minute)}, agents.SettingInterruption},
		"a tool by http": {
			agents.Patch{Tools: callwright.Given([]json.RawMessage{json.RawMessage(`{"name":"a","url":"http://x.example/"}`)})},
			agents.SettingTools,
		},
		"data by http": {
			agents.Patch{DynamicData: callwright.Given([]agents.DynamicData{{URL: "http://x.example/"}})}, agents.SettingDynamicData,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := registered(t)
			test.patch.Record = callwright.Given(true)
			a, report := update(t, s, test.patch)
			if code := callwright.CodeOf(report[test.refused]); code != callwright.CodeBadRequest && code != callwright.CodeNotFound {
				t.Errorf("the report is %v", report)
			}
			if err, made := report[agents.SettingRecord]; !made || err != nil || !a.Record {
				t.Errorf("the other setting: %v, %v", report, a.Record)
			}
			a.Record = false
			if led := a.Pathway.ID == "p1" && test.refused == agents.SettingTask; led {
				a.Pathway = agents.PathwayRef{} // the pathway was applied
			}
			if a.Task != "" || a.Webhook != "" || a.MaxDuration != agents.DefaultMaxDuration || a.Pathway != (agents.PathwayRef{}) ||
				a.TransferTo != "" || a.Temperature != nil || a.Tools != nil || a.DynamicData != nil || a.Persona != "" {
				t.Errorf("stored %+v", a)
			}
		})
	}
}

// TestUpdateMakesEverySetting checks that an update can set every setting of an agent except those of a pathway, and can clear settings
// without changing the others.
func TestUpdateMakesEverySetting(t *testing.T) {
	t.Parallel()
	s := registered(t)
	a, report := update(t, s, agents.Patch{
		Task: callwright.Given("Sell."), Persona: callwright.Given("You are kind."), Voice: callwright.Given("slt"),
		Language: callwright.Given("ENG"), Model: callwright.Given("turbo"), Temperature: callwright.Given(0.5),
		FirstSentence: callwright.Given("Hello."), WaitForGreeting: callwright.Given(true), Record: callwright.Given(true),
		MaxDuration: callwright.Given(time.Minute), TransferTo: callwright.Given(callwright.PhoneNumber("15550000007")),
		Webhook: callwright.Given("https://example.com/"), Interruption: callwright.Given(time.Second),
		Tools:       callwright.Given([]json.RawMessage{json.RawMessage(`{"name":"a","url":"https://x.example/"}`)}),
		DynamicData: callwright.Given([]agents.DynamicData{{URL: "https://x.example/"}}),
	})
	if len(report) != 15 || slices.ContainsFunc(slices.Collect(maps.Values(report)), func(err error) bool { return err != nil }) {
		t.Errorf("the report is %v", report)
	}
	if a.Task != "Sell." || a.Persona == "" || a.Voice != "slt" || a.Language != "en" || a.Model != "turbo" || *a.Temperature != 0.5 ||
		a.FirstSentence != "Hello." || !a.WaitForGreeting || !a.Record || a.MaxDuration != time.Minute ||
		a.TransferTo != "+15550000007" || a.Webhook == "" || *a.Interruption != time.Second || len(a.Tools) != 1 || len(a.DynamicData) != 1 {
		t.Errorf("got %+v", a)
	}
	a, _ = update(t, s, agents.Patch{
		Task: callwright.Cleared[string](), Voice: callwright.Cleared[string](), Temperature: callwright.Cleared[float64](),
		MaxDuration: callwright.Cleared[time.Duration](), Tools: callwright.Cleared[[]json.RawMessage](),
		Interruption: callwright.Cleared[time.Duration](), TransferTo: callwright.Cleared[callwright.PhoneNumber](),
	})
	if a.Task != "" || a.Voice != "" || a.Temperature != nil || a.MaxDuration != agents.DefaultMaxDuration || a.Tools != nil ||
		a.Interruption != nil || a.TransferTo != "" || a.Persona == "" || len(a.DynamicData) != 1 {
		t.Errorf("cleared %+v", a)
	}
}

// TestVersionOfAPathway checks updates that set a pathway's version together with the pathway or alone, and that reset it to production.
func TestVersionOfAPathway(t *testing.T) {
	t.Parallel()
	s := registered(t)
	four, production := pathway.Selector{Number: 4}, pathway.Selector{Environment: pathway.Production}
	for _, step := range []struct {
		patch agents.Patch
		want  agents.PathwayRef
	}{
		{agents.Patch{PathwayVersion: callwright.Cleared[pathway.Selector]()}, agents.PathwayRef{}},
		{agents.Patch{Pathway: callwright.Given("p1")}, agents.PathwayRef{ID: "p1", Version: production}},
		{agents.Patch{PathwayVersion: callwright.Given(four)}, agents.PathwayRef{ID: "p1", Version: four}},
		{agents.Patch{StartNode: callwright.Given("begin")}, agents.PathwayRef{ID: "p1", Version: four, StartNode: "begin"}},
		{agents.Patch{PathwayVersion: callwright.Cleared[pathway.Selector](), StartNode: callwright.Cleared[string]()},
			agents.PathwayRef{ID: "p1", Version: production}},
		{agents.Patch{Pathway: callwright.Cleared[string]()}, agents.PathwayRef{}},
	} {
		if a, report := update(t, s, step.patch); a.Pathway != step.want {
			t.Errorf("%+v, want %+v: %v", a.Pathway, step.want, report)
		}
	}
}

// fallible implements Voices and Pathways. Its methods return errors once a test sets them.
type fallible struct {
	onePathway
	voice, pathway error
}

func (f *fallible) CheckVoice(context.Context, callwright.OrgID, string, string) error {
	return f.voice
}

func (f *fallible) Load(
	ctx context.Context, org callwright.OrgID, id string, sel pathway.Selector,
) (*graph.Graph, int, error) {
	if f.pathway != nil {
		return nil, 0, f.pathway
	}
	return f.onePathway.Load(ctx, org, id, sel)
}

// TestFaultsOfBeforeRefuseNothingElse checks an update of an agent whose voice and pathway were deleted: valid settings are applied, and
// invalid settings are refused despite the earlier faults. If the pathway cannot be read, the update must fail and store nothing.
func TestFaultsOfBeforeRefuseNothingElse(t *testing.T) {
	t.Parallel()
	f := &fallible{}
	s := registered(t, func(c *agents.Config) { c.Voices, c.Pathways = f, f })
	update(t, s, agents.Patch{Pathway: callwright.Given("p1")})
	f.voice, f.pathway = errVoice, callwright.InField("pathway_id", callwright.NotFound("pathway"))
	a, report := update(t, s, agents.Patch{
		Record: callwright.Given(true), TransferTo: callwright.Given(callwright.PhoneNumber("nobody")),
		Voice: callwright.Given("other"), Webhook: callwright.Given("ftp://example.com/"),
	})
	if report[agents.SettingRecord] != nil || !a.Record || report[agents.SettingTransferTo] == nil || a.TransferTo != "" ||
		report[agents.SettingVoice] == nil || report[agents.SettingWebhook] == nil || a.Webhook != "" {
		t.Errorf("%v of %+v", report, a)
	}
	f.pathway = errors.New("the database is away")
	if _, _, err := s.UpdateInbound(t.Context(), "a", number, agents.Patch{Record: callwright.Given(false)}); !errors.Is(err, f.pathway) {
		t.Errorf("a pathway that can't be read gave %v", err)
	}
	if a, _ := s.Inbound(t.Context(), "a", number); !a.Agent.Record {
		t.Error("what could not be checked was stored")
	}
}

// TestPartsThatAreMissing checks that an update returns CodeUnavailable, and refuses no setting, if the server lacks the port that the
// setting requires.
func TestPartsThatAreMissing(t *testing.T) {
	t.Parallel()
	s := registered(t, func(c *agents.Config) { c.Webhooks, c.Requests, c.Pathways = nil, nil, nil })
	for _, p := range []agents.Patch{
		{Webhook: callwright.Given("https://example.com/")}, {Pathway: callwright.Given("p1")},
		{Tools: callwright.Given([]json.RawMessage{json.RawMessage(`{"name":"a","url":"https://x.example/"}`)})},
		{DynamicData: callwright.Given([]agents.DynamicData{{URL: "https://x.example/"}})},
	} {
		if _, _, err := s.UpdateInbound(t.Context(), "a", number, p); !errors.Is(err, callwright.ErrUnavailable) {
			t.Errorf("%+v gave %v", p, err)
		}
	}
}
