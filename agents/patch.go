package agents

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/dialogue"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/speech/ambience"
	"github.com/callwright/callwright/speech/tts"
)

// Patch changes settings of an agent. A setting that is not Set stays unchanged; a cleared setting returns to its default.
type Patch struct {
	// Task and Pathway exclude each other: setting either replaces the other. Pathway is the id of a pathway.
	Task    callwright.Optional[string]
	Pathway callwright.Optional[string]
	// PathwayVersion is the version of Pathway, or of the agent's current pathway. If it is cleared, or not Set together with Pathway, the
	// agent uses the version in production.
	PathwayVersion callwright.Optional[pathway.Selector]
	StartNode      callwright.Optional[string]
	// PersonaID excludes Task and Pathway: setting it clears both.
	PersonaID callwright.Optional[string]
	// Brain excludes Task, Pathway and PersonaID: setting it clears them.
	Brain callwright.Optional[string]

	Persona         callwright.Optional[string]
	Voice           callwright.Optional[string]
	Language        callwright.Optional[string]
	Model           callwright.Optional[string]
	Fallback        callwright.Optional[string] // see Agent.Fallback
	Temperature     callwright.Optional[float64]
	FirstSentence   callwright.Optional[string]
	WaitForGreeting callwright.Optional[bool]
	Record          callwright.Optional[bool]
	MaxDuration     callwright.Optional[time.Duration]
	TransferTo      callwright.Optional[callwright.PhoneNumber]
	Webhook         callwright.Optional[string]
	Interruption    callwright.Optional[time.Duration]
	// Interruptibility also clears the agent's Interruption, unless Interruption is Set, too.
	Interruptibility callwright.Optional[int]
	VoiceSettings    callwright.Optional[string]
	Pronunciation    callwright.Optional[[]tts.Pronunciation]
	Background       callwright.Optional[ambience.Track]
	LeastWait        callwright.Optional[time.Duration]
	LongestWait      callwright.Optional[time.Duration]

	// AgentID is the id of a web agent whose settings the update of a number copies before it makes the other changes: all of them except
	// Machines, Keywords and the metadata. Later changes of the web agent do not change the number. Empty means none. Other updates ignore it.
	AgentID string

	// Version, if not 0, is the stored Version of the web agent or number that the patch is based on. If the stored Version differs, the
	// update changes nothing and returns CodeConflict. Calls ignore it.
	Version int64
	// Whole makes the update of a web agent or number change all settings or none. If any setting is refused, the Report contains only the
	// refused settings. Calls ignore it.
	Whole bool

	Machines    callwright.Optional[Machines]
	Keywords    callwright.Optional[[]string]
	Idle        callwright.Optional[dialogue.Idle]
	Tools       callwright.Optional[[]json.RawMessage]
	DynamicData callwright.Optional[[]DynamicData]
}

// WebAgentPatch changes settings of a web agent. See Patch for unset and cleared settings.
type WebAgentPatch struct {
	Patch
	Metadata callwright.Optional[map[string]any]
}

// Setting names a setting in a Report. It equals the field of the setting's errors.
type Setting string

// The settings of agents and web agents.
const (
	SettingTask            Setting = "task"
	SettingPathway         Setting = "pathway_id"
	SettingPathwayVersion  Setting = "pathway_version"
	SettingStartNode       Setting = "start_node_id"
	SettingPersonaID       Setting = "persona_id"
	SettingAgentID         Setting = "agent_id" // the web agent in Patch.AgentID
	SettingBrain           Setting = "brain_url"
	SettingPersona         Setting = "persona"
	SettingVoice           Setting = "voice"
	SettingLanguage        Setting = "language"
	SettingModel           Setting = "model"
	SettingFallback        Setting = "fallback_model"
	SettingTemperature     Setting = "temperature"
	SettingFirstSentence   Setting = "first_sentence"
	SettingWaitForGreeting Setting = "wait_for_greeting"
	SettingRecord          Setting = "record"
	SettingMaxDuration     Setting = "max_duration"
	SettingTransferTo      Setting = "transfer_phone_number"
	SettingWebhook         Setting = "webhook"
	SettingInterruption    Setting = "interruption_threshold"
	SettingTools           Setting = "tools"

	SettingInterruptibility Setting = "interruptibility"
	SettingMachines         Setting = "machines"
	SettingLeastWait        Setting = "min_endpointing_delay"
	SettingLongestWait      Setting = "max_endpointing_delay"
	SettingIdle             Setting = "idle"

	SettingDynamicData   Setting = "dynamic_data"
	SettingVoiceSettings Setting = "voice_settings"
	SettingPronunciation Setting = "pronunciation_guide"
	SettingBackground    Setting = "background_track"
	SettingKeywords      Setting = "keywords"
	SettingMetadata      Setting = "metadata"
)

// Report maps each setting of a patch to its outcome: nil if the setting was applied, the error otherwise.
type Report map[Setting]error

// made reports whether any setting was applied.
func (r Report) made() bool {
	for _, err := range r {
		if err == nil {
			return true
		}
	}
	return false
}

// outdated returns CodeConflict if the patch is based on another than the stored version.
func (p Patch) outdated(stored int64) error {
	if p.Version == 0 || p.Version == stored {
		return nil
	}
	return callwright.Errorf(callwright.CodeConflict,
		"the settings were changed after you read them: check the stored settings, then save again to replace them")
}

// accepts returns a report's outcome for the patch: whether its changes may be stored, and the report of the update.
func (p Patch) accepts(r Report) (bool, Report) {
	refused := Report{}
	for name, err := range r {
		if err != nil {
			refused[name] = err
		}
	}
	if p.Whole && len(refused) > 0 {
		return false, refused
	}
	return r.made(), r
}

// change is one step of an update: settings that are applied together or not at all.
type change struct {
	settings []Setting
	set      func(*WebAgent)
	refusal  error // error of the change for any agent; nil if set applies the change
}

// isAbout reports whether an error concerns one of the change's settings: the error's field, for example tools[0].url, begins with the
// setting's name.
func (c change) isAbout(err error) bool {
	e, ok := errors.AsType[*callwright.Error](err)
	if !ok {
		return false
	}
	name, _, _ := strings.Cut(e.Field, ".")
	name, _, _ = strings.Cut(name, "[")
	return slices.Contains(c.settings, Setting(name))
}

// changes returns the changes of a patch in the order in which they are applied, without the changes of the agent's leader.
func (p Patch) changes() []change {
	var list []change
	add(&list, SettingPersona, p.Persona, func(w *WebAgent) *string { return &w.Agent.Persona })
	add(&list, SettingVoice, p.Voice, func(w *WebAgent) *string { return &w.Agent.Voice })
	add(&list, SettingFirstSentence, p.FirstSentence, func(w *WebAgent) *string { return &w.Agent.FirstSentence })
	add(&list, SettingLanguage, p.Language, func(w *WebAgent) *string { return &w.Agent.Language })
	add(&list, SettingModel, p.Model, func(w *WebAgent) *string { return &w.Agent.Model })
	add(&list, SettingFallback, p.Fallback, func(w *WebAgent) *string { return &w.Agent.Fallback })
	add(&list, SettingWebhook, p.Webhook, func(w *WebAgent) *string { return &w.Agent.Webhook })
	add(&list, SettingTransferTo, p.TransferTo, func(w *WebAgent) *callwright.PhoneNumber { return &w.Agent.TransferTo })
	add(&list, SettingWaitForGreeting, p.WaitForGreeting, func(w *WebAgent) *bool { return &w.Agent.WaitForGreeting })
	add(&list, SettingRecord, p.Record, func(w *WebAgent) *bool { return &w.Agent.Record })
	add(&list, SettingDynamicData, p.DynamicData, func(w *WebAgent) *[]DynamicData { return &w.Agent.DynamicData })
	add(&list, SettingMachines, p.Machines, func(w *WebAgent) *Machines { return &w.Agent.Machines })
	add(&list, SettingKeywords, p.Keywords, func(w *WebAgent) *[]string { return &w.Agent.Keywords })
	add(&list, SettingTools, p.Tools, func(w *WebAgent) *[]json.RawMessage { return &w.Agent.Tools })
	add(&list, SettingVoiceSettings, p.VoiceSettings, func(w *WebAgent) *string { return &w.Agent.VoiceSettings })
	add(&list, SettingPronunciation, p.Pronunciation, func(w *WebAgent) *[]tts.Pronunciation { return &w.Agent.Pronunciation })
	add(&list, SettingBackground, p.Background, func(w *WebAgent) *ambience.Track { return &w.Agent.Background })
	addPointer(&list, SettingIdle, p.Idle, func(w *WebAgent) **dialogue.Idle { return &w.Agent.Idle })
	addPointer(&list, SettingTemperature, p.Temperature, func(w *WebAgent) **float64 { return &w.Agent.Temperature })
	addPointer(&list, SettingInterruption, p.Interruption, func(w *WebAgent) **time.Duration { return &w.Agent.Interruption })
	if p.Interruptibility.Set {
		list = append(list, change{[]Setting{SettingInterruptibility}, func(w *WebAgent) {
			w.Agent.Interruptibility = p.Interruptibility.Value
			if !p.Interruption.Set {
				w.Agent.Interruption = nil
			}
		}, nil})
	}
	add(&list, SettingLeastWait, p.LeastWait, func(w *WebAgent) *time.Duration { return &w.Agent.LeastWait })
	add(&list, SettingLongestWait, p.LongestWait, func(w *WebAgent) *time.Duration { return &w.Agent.LongestWait })
	add(&list, SettingMaxDuration, p.MaxDuration, func(w *WebAgent) *time.Duration { return &w.Agent.MaxDuration })
	return list
}

// changes returns the changes of a web agent's patch, without the changes of the agent's leader.
func (p WebAgentPatch) changes() []change {
	list := p.Patch.changes()
	add(&list, SettingMetadata, p.Metadata, func(w *WebAgent) *map[string]any { return &w.Metadata })
	return list
}

// add appends the change of a setting, if the patch sets or clears it.
func add[T any](list *[]change, name Setting, value callwright.Optional[T], target func(*WebAgent) *T) {
	if value.Set {
		*list = append(*list, change{[]Setting{name}, func(w *WebAgent) { value.Apply(target(w)) }, nil})
	}
}

// addPointer appends the change of a setting whose cleared value is nil, if the patch sets or clears it.
func addPointer[T any](list *[]change, name Setting, value callwright.Optional[T], target func(*WebAgent) **T) {
	if value.Set {
		*list = append(*list, change{[]Setting{name}, func(w *WebAgent) { *target(w) = value.Value }, nil})
	}
}

// leader returns the changes of the agent's leader, which is a task, a pathway, a persona or a brain: setting one clears the others. A pathway and
// its version are one change, as are a task and the clearing of the pathway that it replaces. The function lead makes a pathway the leader
// of an agent.
func (p Patch) leader(lead func(*Agent, PathwayRef)) []change {
	task, id, personaID := p.Task.OrZero(), p.Pathway.OrZero(), p.PersonaID.OrZero()
	list := p.brainChanges(task != "" || id != "" || personaID != "")
	switch {
	case len(list) > 0 && list[0].set != nil && p.Brain.OrZero() != "":
		return list
	case personaID != "" && task == "" && id == "":
		return append(list, p.byPersona(personaID)...)
	case personaID != "":
		list = append(list, change{[]Setting{SettingPersonaID}, nil, errPersonaExcludes})
	case p.PersonaID.Set:
		list = append(list, change{[]Setting{SettingPersonaID}, func(w *WebAgent) { w.Agent.PersonaID = "" }, nil})
	}
	return append(list, p.byTaskOrPathway(task, id, lead)...)
}

var errPersonaExcludes = callwright.Invalid(
	string(SettingPersonaID), "excludes task and pathway_id: set only one of them")

// byPersona returns the changes that make a persona the agent's leader.
func (p Patch) byPersona(id string) []change {
	cleared, refused := p.withoutPathway()
	if p.Task.Set {
		cleared = append(cleared, SettingTask)
	}
	return append(refused, change{append(cleared, SettingPersonaID), func(w *WebAgent) {
		w.Agent.Task, w.Agent.Pathway, w.Agent.PersonaID, w.Agent.Brain = "", PathwayRef{}, id, ""
	}, nil})
}

// byTaskOrPathway returns the changes of the task, the pathway, its version and its start node. The function lead makes a pathway the
// leader of an agent.
func (p Patch) byTaskOrPathway(task, id string, lead func(*Agent, PathwayRef)) []change {
	var given []Setting
	for _, s := range []struct {
		name  Setting
		given bool
	}{
		{SettingPathway, p.Pathway.Set}, {SettingPathwayVersion, p.PathwayVersion.Set}, {SettingStartNode, p.StartNode.Set},
	} {
		if s.given {
			given = append(given, s.name)
		}
	}
	var list []change
	switch {
	case id != "":
		ref := PathwayRef{ID: id, Version: p.version(), StartNode: p.StartNode.OrZero()}
		list = append(list, change{given, func(w *WebAgent) {
			w.Agent.PersonaID, w.Agent.Brain = "", ""
			lead(&w.Agent, ref)
		}, nil})
		if task != "" {
			refusal := callwright.Invalid(string(SettingTask), "excludes pathway_id: set only one of them")
			list = append(list, change{[]Setting{SettingTask}, nil, refusal})
		}
		return list
	case task != "":
		cleared, refused := p.withoutPathway()
		return append(refused, change{append(cleared, SettingTask), func(w *WebAgent) {
			w.Agent.Task, w.Agent.Pathway, w.Agent.PersonaID, w.Agent.Brain = task, PathwayRef{}, "", ""
		}, nil})
	case p.Pathway.Set:
		cleared, refused := p.withoutPathway()
		list = append(list, refused...)
		list = append(list, change{cleared, func(w *WebAgent) { w.Agent.Pathway = PathwayRef{} }, nil})
	case len(given) > 0:
		list = append(list, change{given, func(w *WebAgent) { p.applyVersion(&w.Agent.Pathway) }, nil})
	}
	add(&list, SettingTask, p.Task, func(w *WebAgent) *string { return &w.Agent.Task })
	return list
}

// withoutPathway handles the pathway settings of a patch that leaves an agent without a pathway. cleared contains the settings that the
// patch clears. refused contains changes that fail, because their settings require a pathway.
func (p Patch) withoutPathway() (cleared []Setting, refused []change) {
	for _, s := range []struct {
		name         Setting
		given, needs bool
	}{
		{SettingPathway, p.Pathway.Set, false},
		{SettingPathwayVersion, p.PathwayVersion.Set, p.PathwayVersion.Value != nil},
		{SettingStartNode, p.StartNode.Set, p.StartNode.OrZero() != ""},
	} {
		switch {
		case s.needs:
			refused = append(refused, change{[]Setting{s.name}, nil, callwright.Invalid(string(s.name), "requires a pathway_id")})
		case s.given:
			cleared = append(cleared, s.name)
		}
	}
	return cleared, refused
}

// version returns the patch's PathwayVersion, or the version in production if it is cleared or not set.
func (p Patch) version() pathway.Selector {
	if p.PathwayVersion.Value == nil {
		return inProduction
	}
	return *p.PathwayVersion.Value
}

// applyVersion sets the version and the start node of an agent's current pathway. Without a pathway, clearing them changes nothing.
func (p Patch) applyVersion(ref *PathwayRef) {
	if p.PathwayVersion.Set && (ref.ID != "" || p.PathwayVersion.Value != nil) {
		ref.Version = p.version()
	}
	p.StartNode.Apply(&ref.StartNode)
}

// lead applies the leader of one call's agent: a task, a pathway, a persona or a brain replaces the agent's former leader. It returns CodeBadRequest
// if the patch sets or clears two of them.
func (p Patch) lead(a Agent) (Agent, error) {
	switch {
	case p.Brain.Set && (p.Task.Set || p.Pathway.Set || p.PersonaID.Set):
		return Agent{}, errBrainExcludes
	case p.PersonaID.Set && (p.Task.Set || p.Pathway.Set):
		return Agent{}, errPersonaExcludes
	case p.Task.Set && p.Pathway.Set:
		return Agent{}, callwright.Invalid(string(SettingTask), "excludes pathway_id: set only one of them")
	case p.PersonaID.Set:
		a.Task, a.Pathway, a.PersonaID, a.Brain = "", PathwayRef{}, p.PersonaID.OrZero(), ""
	case p.Task.Set:
		a.Task, a.Pathway, a.PersonaID, a.Brain = p.Task.OrZero(), PathwayRef{}, "", ""
	case p.Pathway.Set:
		a.Task, a.Pathway, a.PersonaID, a.Brain = "", PathwayRef{ID: p.Pathway.OrZero(), Version: p.version()}, "", ""
	case p.Brain.Set:
		a.Task, a.Pathway, a.PersonaID, a.Brain = "", PathwayRef{}, "", p.Brain.OrZero()
	}
	p.applyVersion(&a.Pathway)
	return a, nil
}

// applied returns the agent of one call with the patch's settings, except the settings of the leader, which lead applies.
func (p Patch) applied(a Agent) Agent {
	w := WebAgent{Agent: a}
	for _, c := range p.changes() {
		c.set(&w)
	}
	return w.Agent
}
