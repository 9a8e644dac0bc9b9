package agents

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/conversation/endpoint"
	"github.com/callwright/callwright/agents/dialogue"
)

// Source names the object whose value of a setting applies to a call.
type Source string

// The sources of settings. A call's settings precede those of its web agent or number, and these precede its persona's. A pathway's node
// precedes all of them while it speaks and listens.
const (
	SourceCall    Source = "call"    // the request that placed the call
	SourceAgent   Source = "agent"   // the web agent
	SourceNumber  Source = "number"  // the inbound number
	SourcePersona Source = "persona" // the version of the persona
	SourceNode    Source = "node"    // modelOptions of a pathway's node
	SourceDefault Source = "default" // the default of this server
)

// EffectiveSetting is a setting with the value that applies to a call.
type EffectiveSetting struct {
	Name   string // name in the API, with the path of its object, such as "idle.after"
	Value  any    // value in the form of the API; nil if the setting is off
	Source Source // empty for calls of earlier releases, which stored no sources

	Node, NodeName string // id and name of the node, for SourceNode
}

// sourced contains the conversation settings of agents, in the order of Effective. isSet reports whether an agent has a value.
var sourced = []struct {
	name  Setting
	isSet func(Agent) bool
}{
	{SettingInterruptibility, func(a Agent) bool { return a.Interruptibility != nil }},
	{SettingInterruption, func(a Agent) bool { return a.Interruption != nil }},
	{SettingLeastWait, func(a Agent) bool { return a.LeastWait != 0 }},
	{SettingLongestWait, func(a Agent) bool { return a.LongestWait != 0 }},
	{SettingIdle, func(a Agent) bool { return a.Idle != nil }},
	{SettingVoice, func(a Agent) bool { return a.Voice != "" }},
	{SettingVoiceSettings, func(a Agent) bool { return a.VoiceSettings != "" }},
	{SettingPronunciation, func(a Agent) bool { return len(a.Pronunciation) > 0 }},
	{SettingBackground, func(a Agent) bool { return a.Background != "" }},
	{SettingLanguage, func(a Agent) bool { return a.Language != "" }},
	{SettingKeywords, func(a Agent) bool { return len(a.Keywords) > 0 }},
	{SettingWaitForGreeting, func(a Agent) bool { return a.WaitForGreeting }},
	{SettingMachines, func(a Agent) bool { return a.Machines != (Machines{}) }},
}

// noteSources adds the source of each setting that has a value but no source yet, and deletes the sources of settings without a value. by
// is the source of the added ones.
func (a *Agent) noteSources(by Source) {
	sources := maps.Clone(a.Sources)
	if sources == nil {
		sources = map[Setting]Source{}
	}
	for _, s := range sourced {
		switch _, known := sources[s.name]; {
		case !s.isSet(*a):
			delete(sources, s.name)
		case !known:
			sources[s.name] = by
		}
	}
	if a.Sources = sources; len(sources) == 0 {
		a.Sources = nil
	}
}

// noteOverrides replaces the sources of the settings that a patch has set or cleared.
func (a *Agent) noteOverrides(p Patch) {
	a.Sources = maps.Clone(a.Sources)
	for _, c := range p.changes() {
		for _, name := range c.settings {
			delete(a.Sources, name)
		}
	}
	a.noteSources(SourceCall)
}

// source returns the source of a setting: SourceDefault if the agent has no value, and an empty Source if Sources is nil.
func (a Agent) source(name Setting) Source {
	for _, s := range sourced {
		if s.name == name && s.isSet(a) {
			return a.Sources[name]
		}
	}
	return SourceDefault
}

// Effective returns the conversation settings of a call's agent, with defaults for settings that no object has set. Settings for machines
// apply only to placed calls: they are omitted for an inbound call.
func (a Agent) Effective(inbound bool) []EffectiveSetting {
	list := settingList{agent: a}
	level := conversation.NormallyInterrupted
	if a.Interruptibility != nil {
		level = conversation.InterruptibilityOf(*a.Interruptibility)
	}
	list.add(SettingInterruptibility, level.Number())
	switch {
	case level == conversation.NeverInterrupted:
		list.append(string(SettingInterruption), nil, list.source(SettingInterruptibility))
	case a.Interruption != nil:
		list.add(SettingInterruption, a.Interruption.Milliseconds())
	default:
		list.append(string(SettingInterruption), level.Threshold().Milliseconds(), list.source(SettingInterruptibility))
	}
	least := cmp.Or(a.LeastWait, endpoint.DefaultLeast)
	list.add(SettingLeastWait, millis(least))
	list.add(SettingLongestWait, millis(max(cmp.Or(a.LongestWait, endpoint.DefaultLongest), least)))
	list.addIdle()
	list.add(SettingVoice, orNil(a.Voice))
	list.addVoiceSettings()
	if len(a.Pronunciation) > 0 {
		words := []map[string]any{}
		for _, p := range a.Pronunciation {
			words = append(words, map[string]any{"word": p.Word, "pronunciation": p.Spoken, "case_sensitive": p.CaseSensitive, "spaced": !p.Inside})
		}
		list.add(SettingPronunciation, words)
	} else {
		list.add(SettingPronunciation, nil)
	}
	list.add(SettingBackground, orNil(string(a.Background)))
	list.add(SettingLanguage, orNil(a.Language))
	if terms := a.Terms(); len(terms) > 0 {
		list.add(SettingKeywords, terms)
	} else {
		list.add(SettingKeywords, nil)
	}
	list.add(SettingWaitForGreeting, a.WaitForGreeting)
	if !inbound {
		list.addMachines()
	}
	return list.all
}

// settingList collects the effective settings of an agent.
type settingList struct {
	agent Agent
	all   []EffectiveSetting
}

func (l *settingList) source(name Setting) Source { return l.agent.source(name) }

// add appends a setting with the source of its own value.
func (l *settingList) add(name Setting, value any) { l.append(string(name), value, l.source(name)) }

func (l *settingList) append(name string, value any, by Source) {
	l.all = append(l.all, EffectiveSetting{Name: name, Value: value, Source: by})
}

// member appends a member of a setting that is an object. A member that the object lacks has its default.
func (l *settingList) member(object Setting, name string, value any, isSet bool) {
	by := SourceDefault
	if isSet {
		by = l.source(object)
	}
	l.append(string(object)+"."+name, value, by)
}

func (l *settingList) addIdle() {
	i, filled := l.agent.Idle, l.agent.Idle.Filled(l.agent.Language)
	if i == nil {
		i = &dialogue.Idle{}
	}
	l.member(SettingIdle, "after", filled.After.Seconds(), i.After != nil)
	l.member(SettingIdle, "times", *filled.Times, i.Times != nil)
	l.member(SettingIdle, "prompt", filled.Prompt, i.Prompt != "")
	l.member(SettingIdle, "goodbye", filled.Goodbye, i.Goodbye != "")
	l.member(SettingIdle, "filler_after", filled.FillerAfter.Seconds(), i.FillerAfter != nil)
	l.member(SettingIdle, "filler", filled.Filler, i.Filler != "")
}

// addVoiceSettings appends the factors of the voice, and the other members of VoiceSettings as they are stored.
func (l *settingList) addVoiceSettings() {
	members := map[string]json.RawMessage{}
	_ = json.Unmarshal([]byte(l.agent.VoiceSettings), &members) // checked before the call
	for _, name := range []string{"speed", "pitch"} {
		if members[name] == nil || string(members[name]) == "null" {
			l.member(SettingVoiceSettings, name, 1, false)
			delete(members, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		l.member(SettingVoiceSettings, name, members[name], true)
	}
}

func (l *settingList) addMachines() {
	m := l.agent.Machines
	for _, s := range []struct {
		name           string
		action, preset MachineAction
	}{
		{"voicemail", m.Voicemail, MachineIgnore}, {"ivr", m.IVR, MachineIgnore}, {"screening", m.Screening, MachineIgnore},
		{"announcement", m.Announcement, MachineHangup}, {"fax", m.Fax, MachineHangup},
	} {
		l.member(SettingMachines, s.name, cmp.Or(s.action, s.preset), s.action != "")
	}
	if m.Voicemail == MachineMessage {
		l.member(SettingMachines, "voicemail_message", m.VoicemailMessage, true)
	}
	if m.Screening == MachineIntroduce {
		l.member(SettingMachines, "screening_message", m.ScreeningMessage, true)
	}
}

// orNil returns a text, or nil if it is empty.
func orNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// millis returns a duration in milliseconds.
func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
