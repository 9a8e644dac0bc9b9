package agentform

import (
	"cmp"
	"strconv"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/pathway"
)

// generalSettings contains the settings of agents beside those of the conversation.
var generalSettings = byPart(
	text(Field{Name: "prompt", Label: "Task", Long: true, Hint: "What the agent is to do, in your words. A pathway or a persona leads instead of a task."},
		agents.SettingTask, func(a *agents.Agent) *string { return &a.Task }),
	setting{
		Field{Name: "pathway_id", Label: "Pathway", Unset: "None"}, agents.SettingPathway,
		func(to *agents.Agent, value string) error {
			if to.Pathway = (agents.PathwayRef{}); value != "" {
				to.Pathway = agents.PathwayRef{ID: value, Version: inProduction}
			}
			return nil
		},
		func(a agents.Agent) string { return a.Pathway.ID },
	},
	setting{
		Field{Name: "pathway_version", Label: "Version of the pathway", Hint: "A number, 0 for the draft, staging or production; empty: the one in production."},
		agents.SettingPathwayVersion,
		func(to *agents.Agent, value string) error {
			to.Pathway.Version = pathway.Selector{Environment: cmp.Or(pathway.Environment(value), pathway.Production)}
			if n, err := strconv.Atoi(value); err == nil {
				to.Pathway.Version = pathway.Selector{Number: n}
			}
			return nil
		},
		func(a agents.Agent) string {
			switch {
			case a.Pathway.ID == "" || a.Pathway.Version == inProduction:
				return ""
			case a.Pathway.Version.Environment != "":
				return string(a.Pathway.Version.Environment)
			}
			return strconv.Itoa(a.Pathway.Version.Number)
		},
	},
	text(Field{Name: "persona_id", Label: "Persona", Unset: "None", Hint: "It leads in place of a task, and its settings count where this form has none."},
		agents.SettingPersonaID, func(a *agents.Agent) *string { return &a.PersonaID }),
	text(Field{Name: "brain_url", Label: "URL of a brain", Default: "https://brain.example.com/turns", Hint: "A service of yours that leads in place of a task, a pathway or a persona."},
		agents.SettingBrain, func(a *agents.Agent) *string { return &a.Brain }),
	text(Field{Name: "persona", Label: "Character", Long: true, Hint: "Who the agent is, and how it talks."},
		agents.SettingPersona, func(a *agents.Agent) *string { return &a.Persona }),
	text(Field{Name: "voice", Label: "Voice"}, agents.SettingVoice, func(a *agents.Agent) *string { return &a.Voice }),
	setting{
		Field{Name: "language", Label: "Language", Default: "en"}, agents.SettingLanguage,
		func(to *agents.Agent, value string) error {
			to.Language = agents.LanguageTag(value)
			return nil
		},
		func(a agents.Agent) string { return a.Language },
	},
	text(Field{Name: "model", Label: "Model", Unset: "The server's"}, agents.SettingModel, func(a *agents.Agent) *string { return &a.Model }),
	text(Field{Name: "fallback_model", Label: "Fallback of the model", Unset: "The server's", Hint: "It replies if the model fails or has not begun within 4 seconds."},
		agents.SettingFallback, func(a *agents.Agent) *string { return &a.Fallback }),
	setting{
		Field{Name: "temperature", Label: "Temperature of the model", Number: true, Hint: "From 0 to 1."}, agents.SettingTemperature,
		func(to *agents.Agent, value string) error {
			if to.Temperature = nil; value == "" {
				return nil
			}
			n, ok := number(value)
			if !ok {
				return callwright.Invalid("temperature", "must be a number from 0 to 1")
			}
			to.Temperature = &n
			return nil
		},
		func(a agents.Agent) string {
			if a.Temperature == nil {
				return ""
			}
			return strconv.FormatFloat(*a.Temperature, 'f', -1, 64)
		},
	},
	text(Field{Name: "first_sentence", Label: "First sentence"}, agents.SettingFirstSentence, func(a *agents.Agent) *string { return &a.FirstSentence }),
	yesNo(Field{Name: "wait_for_greeting", Label: "Let the other side speak first"}, agents.SettingWaitForGreeting,
		func(a *agents.Agent) *bool { return &a.WaitForGreeting }),
	yesNo(Field{Name: "record", Label: "Record the calls"}, agents.SettingRecord, func(a *agents.Agent) *bool { return &a.Record }),
	setting{
		Field{Name: "max_duration", Label: "Maximum duration, in minutes", Default: "30", Number: true}, agents.SettingMaxDuration,
		func(to *agents.Agent, value string) error {
			if to.MaxDuration = 0; value == "" {
				return nil
			}
			n, ok := number(value)
			if !ok || n < 0.01 || n > agents.LongestCall.Minutes() {
				return callwright.Invalid("max_duration", "must be a number of minutes from 0.01 to %d", int(agents.LongestCall.Minutes()))
			}
			to.MaxDuration = time.Duration(n * float64(time.Minute))
			return nil
		},
		func(a agents.Agent) string {
			if a.MaxDuration == 0 {
				return ""
			}
			return strconv.FormatFloat(a.MaxDuration.Minutes(), 'f', -1, 64)
		},
	},
	setting{
		Field{Name: "transfer_phone_number", Label: "Number for transfers to a person", Default: "+15551234567"}, agents.SettingTransferTo,
		func(to *agents.Agent, value string) error {
			to.TransferTo = ""
			if value != "" {
				to.TransferTo = callwright.PhoneNumber(callwright.TypedNumber(value))
			}
			return nil
		},
		func(a agents.Agent) string { return a.TransferTo.String() },
	},
)

// inProduction selects the version of a pathway that is not named.
var inProduction = pathway.Selector{Environment: pathway.Production}

// byPart maps settings by their names in a Patch.
func byPart(all ...setting) map[agents.Setting]setting {
	parts := map[agents.Setting]setting{}
	for _, s := range all {
		parts[s.part] = s
	}
	return parts
}

// text returns a setting that is stored as typed.
func text(f Field, part agents.Setting, of func(*agents.Agent) *string) setting {
	return setting{
		f, part,
		func(to *agents.Agent, value string) error {
			*of(to) = value
			return nil
		},
		func(a agents.Agent) string { return *of(&a) },
	}
}

// yesNo returns a setting that is on or off.
func yesNo(f Field, part agents.Setting, of func(*agents.Agent) *bool) setting {
	f.Options = []Option{{"false", "No"}, {"true", "Yes"}}
	return setting{
		f, part,
		func(to *agents.Agent, value string) error {
			*of(to) = value == "true"
			return nil
		},
		func(a agents.Agent) string { return strconv.FormatBool(*of(&a)) },
	}
}
