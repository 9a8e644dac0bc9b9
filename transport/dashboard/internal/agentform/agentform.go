// Package agentform contains the form fields of the settings that calls, web agents, personas and inbound numbers have in common. Each field
// has the name of its setting in the API.
package agentform

import (
	"cmp"
	"embed"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/persona"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

//go:embed templates/_agentform.html
var files embed.FS

// In returns an area with two additional templates: "conversation", which expects a Section, and "setting", which expects a Shown.
func In(a page.Area) page.Area {
	templates, err := fs.Sub(files, "templates")
	if err != nil {
		panic(err) // impossible: the folder is embedded
	}
	return a.With(templates, nil)
}

// Field is the form field of one setting.
type Field struct {
	Name    string   // name in the API, with the path of its object, such as "idle.after"
	Label   string   // the setting in plain words
	Hint    string   // effect of the setting; may be empty
	Default string   // placeholder of an empty field; may be empty
	Number  bool     // whether the value is a number
	Long    bool     // whether the value has several lines
	Options []Option // selectable values; if nil, any text can be typed
	Unset   string   // text of the option for no value; empty means that of the object
}

// Option is a selectable value of a Field.
type Option struct{ Value, Text string }

// Shown is a Field with its value, as typed, and the faults of its form.
type Shown struct {
	Field

	Value  string
	Faults page.Faults
}

// Section is the part of a form with the fields of all conversation settings of an object.
type Section struct {
	Title  string
	Groups []Group
	Open   bool // whether the section is unfolded, because a field has a value or a fault
}

// Group is a titled list of fields.
type Group struct {
	Title  string
	Hint   string
	Fields []Shown
}

// Object is a type of object in the API that has the settings of an agent.
type Object struct {
	inherits bool             // whether an empty field leaves the setting to another object; otherwise it clears the setting
	general  []agents.Setting // settings beside those of the conversation, in their order
	lacks    []agents.Setting // conversation settings that the object does not have
}

// The objects that have settings of an agent. The other settings of a Call are in the form of its page.
var (
	Call     = Object{inherits: true}
	WebAgent = Object{general: []agents.Setting{
		agents.SettingTask, agents.SettingPathway, agents.SettingBrain, agents.SettingFirstSentence, agents.SettingVoice, agents.SettingLanguage, agents.SettingModel,
		agents.SettingFallback, agents.SettingTemperature, agents.SettingMaxDuration,
	}}
	Persona = Object{
		general: []agents.Setting{
			agents.SettingVoice, agents.SettingLanguage, agents.SettingWaitForGreeting, agents.SettingRecord, agents.SettingMaxDuration,
		},
		lacks: []agents.Setting{agents.SettingKeywords},
	}
	Number = Object{
		general: []agents.Setting{
			agents.SettingTask, agents.SettingPathway, agents.SettingPathwayVersion, agents.SettingPersonaID, agents.SettingBrain, agents.SettingPersona,
			agents.SettingFirstSentence, agents.SettingWaitForGreeting, agents.SettingVoice, agents.SettingLanguage, agents.SettingModel,
			agents.SettingFallback, agents.SettingTemperature, agents.SettingRecord, agents.SettingMaxDuration, agents.SettingTransferTo,
		},
		lacks: []agents.Setting{agents.SettingKeywords, agents.SettingMachines},
	}
)

// Node is a node of a pathway.
var Node = Object{inherits: true, lacks: []agents.Setting{
	agents.SettingIdle, agents.SettingVoiceSettings, agents.SettingPronunciation, agents.SettingBackground, agents.SettingKeywords, agents.SettingMachines,
}}

// Fields returns the names of the object's fields.
func (o Object) Fields() (names []string) {
	for _, s := range o.settings() {
		names = append(names, s.Name)
	}
	return names
}

// settings returns the settings of the object that this package knows.
func (o Object) settings() (all []setting) {
	for _, part := range o.general {
		all = append(all, generalSettings[part])
	}
	for _, g := range groups {
		for _, s := range g.settings {
			if !slices.Contains(o.lacks, s.part) {
				all = append(all, s)
			}
		}
	}
	return all
}

// General returns the fields of the object's settings beside those of the conversation. choices contains the options of fields, by name.
// The value of a field that is not among its options is offered, too.
func (o Object) General(values map[string]string, faults page.Faults, choices map[string][]Option) (shown []Shown) {
	for _, part := range o.general {
		f, value := generalSettings[part].Field, values[generalSettings[part].Name]
		if options := choices[f.Name]; options != nil {
			f.Options = slices.Concat(o.unset(f), options)
		}
		if f.Options != nil && !slices.ContainsFunc(f.Options, func(o Option) bool { return o.Value == value }) {
			f.Options = append(slices.Clip(f.Options), Option{value, value})
		}
		shown = append(shown, Shown{f, value, faults})
	}
	return shown
}

// Section returns the section with values, which are as typed, and faults.
func (o Object) Section(values map[string]string, faults page.Faults) (section Section) {
	section.Title = "Conversation"
	for _, g := range groups {
		shown := Group{Title: g.title, Hint: g.hint}
		for _, s := range g.settings {
			if slices.Contains(o.lacks, s.part) {
				continue
			}
			if s.Options != nil {
				s.Options = slices.Concat(o.unset(s.Field), s.Options)
			}
			_, faulty := faults[s.Name]
			section.Open = section.Open || faulty || values[s.Name] != ""
			shown.Fields = append(shown.Fields, Shown{s.Field, values[s.Name], faults})
		}
		if len(shown.Fields) > 0 {
			section.Groups = append(section.Groups, shown)
		}
	}
	return section
}

// unset returns the option for no value of a field.
func (o Object) unset(f Field) []Option {
	text := "Default"
	if o.inherits {
		text = "Use the agent's setting"
	}
	return []Option{{"", cmp.Or(f.Unset, text)}}
}

// Read copies the values of the object's fields from a form to values.
func (o Object) Read(r *page.Request, values map[string]string) {
	for _, s := range o.settings() {
		values[s.Name] = strings.ReplaceAll(r.Field(s.Name), "\r\n", "\n")
	}
}

// Fill sets the values of the object's fields to the settings of an agent.
func (o Object) Fill(values map[string]string, a agents.Agent) {
	for _, s := range o.settings() {
		values[s.Name] = s.write(a)
	}
}

// Apply returns an agent with the values of a form. An invalid value causes CodeBadRequest with the name of the field.
func (o Object) Apply(values map[string]string, agent agents.Agent) (agents.Agent, error) {
	changed, _, err := o.apply(values, agent)
	return changed, err
}

// Patch returns the change of an agent's settings to the values of a form. Settings whose values equal those of the agent are not changed.
// The patch of a Call, whose agent is the zero Agent, contains only settings with a value. An invalid value causes CodeBadRequest with the
// name of the field.
func (o Object) Patch(values map[string]string, agent agents.Agent) (agents.Patch, error) {
	changed, parts, err := o.apply(values, agent)
	return patchOf(changed, parts), err
}

// apply returns an agent with the values of a form, and the settings that differ.
func (o Object) apply(values map[string]string, agent agents.Agent) (changed agents.Agent, parts map[agents.Setting]bool, err error) {
	changed, parts = agent, map[agents.Setting]bool{}
	for _, s := range o.settings() {
		value := values[s.Name]
		ofNew := s.part == agents.SettingPathwayVersion && parts[agents.SettingPathway] // the version belongs to another pathway than before
		if value == s.write(agent) && !ofNew {
			continue
		}
		if err := s.read(&changed, value); err != nil {
			return agent, nil, err
		}
		parts[s.part] = true
	}
	return changed, parts, nil
}

// patchOf returns a patch with the given settings of an agent.
func patchOf(a agents.Agent, parts map[agents.Setting]bool) agents.Patch {
	version := &a.Pathway.Version
	if *version == inProduction {
		version = nil
	}
	return agents.Patch{
		Task: optional(parts[agents.SettingTask], &a.Task), Pathway: optional(parts[agents.SettingPathway], &a.Pathway.ID),
		PathwayVersion: optional(parts[agents.SettingPathwayVersion], version),
		PersonaID:      optional(parts[agents.SettingPersonaID], &a.PersonaID), Persona: optional(parts[agents.SettingPersona], &a.Persona),
		Brain: optional(parts[agents.SettingBrain], &a.Brain),
		Voice: optional(parts[agents.SettingVoice], &a.Voice), Language: optional(parts[agents.SettingLanguage], &a.Language),
		Model: optional(parts[agents.SettingModel], &a.Model), Fallback: optional(parts[agents.SettingFallback], &a.Fallback), Temperature: optional(parts[agents.SettingTemperature], a.Temperature),
		FirstSentence:   optional(parts[agents.SettingFirstSentence], &a.FirstSentence),
		WaitForGreeting: optional(parts[agents.SettingWaitForGreeting], &a.WaitForGreeting),
		Record:          optional(parts[agents.SettingRecord], &a.Record), MaxDuration: optional(parts[agents.SettingMaxDuration], &a.MaxDuration),
		TransferTo:   optional(parts[agents.SettingTransferTo], &a.TransferTo),
		Interruption: optional(parts[agents.SettingInterruption], a.Interruption), Idle: optional(parts[agents.SettingIdle], a.Idle),
		Interruptibility: optional(parts[agents.SettingInterruptibility], a.Interruptibility),
		LeastWait:        optional(parts[agents.SettingLeastWait], &a.LeastWait),
		LongestWait:      optional(parts[agents.SettingLongestWait], &a.LongestWait),
		VoiceSettings:    optional(parts[agents.SettingVoiceSettings], &a.VoiceSettings),
		Pronunciation:    optional(parts[agents.SettingPronunciation], &a.Pronunciation),
		Background:       optional(parts[agents.SettingBackground], &a.Background),
		Machines:         optional(parts[agents.SettingMachines], &a.Machines),
		Keywords:         optional(parts[agents.SettingKeywords], &a.Keywords),
	}
}

// optional returns a value that is Set if changed is true. A nil value is cleared.
func optional[T any](changed bool, value *T) callwright.Optional[T] {
	if !changed {
		return callwright.Optional[T]{}
	}
	return callwright.Optional[T]{Set: true, Value: value}
}

// OfPersona returns a change of the settings of a persona's calls that equals a patch.
func OfPersona(p agents.Patch) persona.CallChange {
	c := persona.CallChange{
		Voice: p.Voice, Record: p.Record, Language: p.Language, MaxDuration: p.MaxDuration, WaitForGreeting: p.WaitForGreeting,
		Interruption: p.Interruption, Interruptibility: p.Interruptibility, LeastWait: p.LeastWait, LongestWait: p.LongestWait, Idle: p.Idle,
		VoiceSettings: p.VoiceSettings, Pronunciation: p.Pronunciation, Machines: p.Machines,
	}
	if p.Background.Set {
		c.Background = callwright.Given(string(p.Background.OrZero()))
	}
	return c
}

// AgentOf returns an agent with the settings of a persona's calls.
func AgentOf(c persona.CallConfig) agents.Agent {
	return agents.Agent{
		Voice: c.Voice, Record: c.Record, Language: c.Language, Background: agents.Background(c.Background), MaxDuration: c.MaxDuration,
		WaitForGreeting: c.WaitForGreeting, Interruption: c.Interruption, Interruptibility: c.Interruptibility, LeastWait: c.LeastWait,
		LongestWait: c.LongestWait, Idle: c.Idle, VoiceSettings: c.VoiceSettings, Pronunciation: c.Pronunciation, Machines: c.Machines,
	}
}

// Faults converts an error of a domain to the faults of a form that has the given fields. A fault within a list, such as
// pronunciation_guide[2].word, becomes a fault of the list's field. renamed maps field names of the domain to different field names of the
// form. Faults reports false if the user can neither correct the form nor send it again later.
func Faults(err error, renamed map[string]string, fields ...string) (page.Faults, bool) {
	var all callwright.FieldErrors
	if one, ok := errors.AsType[*callwright.Error](err); ok {
		all = callwright.FieldErrors{one}
	}
	if several, ok := errors.AsType[callwright.FieldErrors](err); ok {
		all = several
	}
	faults := page.Faults{}
	for _, e := range all {
		named := *e
		field := strings.TrimPrefix(e.Field, "call_config.")
		if list, _, inside := strings.Cut(field, "["); inside {
			named.Message, field = e.Field+" "+e.Message, list
		}
		named.Field = field
		found, ok := page.FaultsOf(&named, renamed, fields...)
		if !ok {
			return nil, false
		}
		maps.Copy(faults, found)
	}
	return faults, len(faults) > 0
}
