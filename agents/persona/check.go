package persona

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/conversation/endpoint"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/prompted"
	"github.com/callwright/callwright/agents/tool"
	"github.com/callwright/callwright/speech/ambience"
	"github.com/callwright/callwright/speech/tts"
)

// The limits of a persona and its versions. Limits of texts count characters.
const (
	MaxPersonas = 1000   // per organization, without deleted personas
	MaxVersions = 10_000 // per persona

	MaxName           = 200
	MaxRole           = 200
	MaxDescription    = 4000
	MaxTags           = 50
	MaxTag            = 64
	MaxImageURL       = 2048
	MaxPrompt         = 32 << 10 // for each of the two prompts
	MaxConditions     = 20
	MaxWhen           = 2000
	MaxKnowledgeBases = prompted.MaxBases
	MaxID             = 64
	MaxVoice          = 128
	MaxLanguage       = 32
	MaxTools          = 256 << 10 // bytes of all tools together; at most tool.MaxTools tools
	LongestCall       = 12 * time.Hour
)

// The limits of lists.
const (
	DefaultPage = 20      // personas per page
	MaxPage     = 100     // personas or versions per page
	MaxPages    = 100_000 // highest page number of List
	MaxNumbers  = 1000    // inbound numbers that are reported per persona
	MaxRead     = 2 << 20 // bytes of versions that are read together
)

// KeepDeleted is how long the store keeps a deleted persona and its versions.
const KeepDeleted = 30 * 24 * time.Hour

// faults collects the errors of a request.
type faults callwright.FieldErrors

// addIf adds an error with CodeBadRequest about a field, if wrong is set.
func (f *faults) addIf(wrong bool, field, format string, args ...any) {
	if wrong {
		*f = append(*f, callwright.Invalid(field, format, args...))
	}
}

// add adds an error, if err is a *callwright.Error.
func (f *faults) add(err error) {
	if fault, ok := errors.AsType[*callwright.Error](err); ok {
		*f = append(*f, fault)
	}
}

// addLonger adds an error about a field if its text has more characters than the given maximum.
func (f *faults) addLonger(field, text string, most int) {
	f.addIf(callwright.Longer(text, most), field, "must have at most %d characters", most)
}

func (f faults) err() error { return callwright.FieldErrors(f).OrNil() }

// check adds the errors of the fields that can be checked without the services in Config, such as Pathways and Voices.
func (p Persona) check(f *faults) {
	f.addIf(strings.TrimSpace(p.Name) == "", "name", "is required")
	f.addLonger("name", p.Name, MaxName)
	f.addLonger("role", p.Role, MaxRole)
	f.addLonger("description", p.Description, MaxDescription)
	f.addIf(len(p.Tags) > MaxTags, "tags", "must have at most %d tags", MaxTags)
	for i, tag := range p.Tags[:min(len(p.Tags), MaxTags)] {
		field := fmt.Sprintf("tags[%d]", i)
		f.addIf(strings.TrimSpace(tag) == "", field, "must not be empty")
		f.addLonger(field, tag, MaxTag)
	}
	f.addLonger("image_url", p.ImageURL, MaxImageURL)
	f.addIf(p.ImageURL != "" && !isPicture(p.ImageURL), "image_url", "must be an http or https URL")
}

// isPicture reports whether an address is an http or https URL, from which a browser could load a picture. The server never loads it.
func isPicture(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http")
}

// check adds the errors of the fields that can be checked without a port.
func (v Version) check(f *faults) {
	for _, prompt := range []struct{ field, text string }{
		{"orchestration_prompt", v.Orchestration}, {"personality_prompt", v.Personality},
	} {
		f.addIf(prompt.text != "" && strings.TrimSpace(prompt.text) == "", prompt.field, "must not be blank")
		f.addLonger(prompt.field, prompt.text, MaxPrompt)
	}
	f.addIf(len(v.Conditions) > MaxConditions, "pathway_conditions", "must have at most %d conditions", MaxConditions)
	for i, c := range v.Conditions[:min(len(v.Conditions), MaxConditions)] {
		field := fmt.Sprintf("pathway_conditions[%d]", i)
		f.addIf(c.Pathway == "", field+".pathway_id", "is required")
		f.addLonger(field+".pathway_id", c.Pathway, MaxID)
		f.addIf(strings.TrimSpace(c.When) == "", field+".condition", "is required: it says when the pathway takes over")
		f.addLonger(field+".condition", c.When, MaxWhen)
	}
	f.addIf(len(v.KnowledgeBases) > MaxKnowledgeBases, "kb_ids", "must have at most %d ids", MaxKnowledgeBases)
	for i, id := range v.KnowledgeBases[:min(len(v.KnowledgeBases), MaxKnowledgeBases)] {
		field := fmt.Sprintf("kb_ids[%d]", i)
		f.addIf(id == "", field, "must not be empty")
		f.addLonger(field, id, MaxID)
	}
	f.addLonger("call_config.voice", v.Call.Voice, MaxVoice)
	f.addIf(v.Call.Background != "" && !ambience.Track(v.Call.Background).Known(),
		"call_config.background", "must be office, cafe, restaurant or none")
	f.addLonger("call_config.language", v.Call.Language, MaxLanguage)
	f.addIf(v.Call.MaxDuration < 0 || v.Call.MaxDuration > LongestCall,
		"call_config.max_duration", "must be more than 0 and at most %d minutes", int(LongestCall/time.Minute))
	f.addIf(v.Call.Interruption != nil && (*v.Call.Interruption < 0 || *v.Call.Interruption > conversation.MaxThreshold),
		"call_config.interruption_threshold", "must be from 0 to %d milliseconds", conversation.MaxThreshold.Milliseconds())
	f.addIf(v.Call.Interruptibility != nil && (*v.Call.Interruptibility < 0 || *v.Call.Interruptibility > conversation.MaxInterruptibility),
		"call_config.interruptibility", "must be from 0 (never) to %d (immediately)", conversation.MaxInterruptibility)
	f.addIf(!endpoint.IsBound(v.Call.LeastWait), "call_config.min_endpointing_delay", endpoint.BoundRange)
	f.addIf(!endpoint.IsBound(v.Call.LongestWait), "call_config.max_endpointing_delay", endpoint.BoundRange)
	f.add(v.Call.Idle.Check("call_config.idle."))
	_, err := tts.ParseSettings("call_config.voice_settings", v.Call.VoiceSettings)
	f.add(err)
	f.add(tts.CheckPronunciations("call_config.pronunciation_guide", v.Call.Pronunciation))
	f.add(v.Call.Machines.Check("call_config.machines."))
}

// normalize replaces the background sound noBackground by the empty text.
func (v *Version) normalize() {
	if v.Call.Background == noBackground {
		v.Call.Background = ""
	}
}

// noBackground is a name that clients may use for no background sound.
const noBackground = "none"

// part is a set of parts of a version that depend on this server's ports.
type part int

const (
	partConditions part = 1 << iota
	partKnowledge
	partTools
	partEngines
	everyPart = partConditions | partKnowledge | partTools | partEngines
)

// checkPorts checks the given parts of a version against this server, and returns the first error. Callers omit unchanged parts, because a
// deleted pathway must not prevent a new prompt.
func (s *Service) checkPorts(ctx context.Context, v Version, parts part) error {
	for _, check := range []struct {
		part  part
		check func(context.Context, Version) error
	}{
		{partEngines, s.checkEngines}, {partKnowledge, s.checkKnowledge}, {partTools, s.checkTools},
		{partConditions, s.checkConditions},
	} {
		if parts&check.part == 0 {
			continue
		}
		if err := check.check(ctx, v); err != nil {
			return err
		}
	}
	return nil
}

// checkEngines refuses a voice or language that the engines do not support.
func (s *Service) checkEngines(ctx context.Context, v Version) error {
	if s.cfg.Voices != nil {
		if err := s.cfg.Voices.CheckVoice(ctx, v.Org, v.Call.Voice, v.Call.Language); err != nil {
			return below("call_config.", err)
		}
	}
	if s.cfg.Languages != nil {
		return below("call_config.", s.cfg.Languages.CheckLanguage(v.Call.Language))
	}
	return nil
}

func (s *Service) checkKnowledge(_ context.Context, v Version) error {
	if len(v.KnowledgeBases) > 0 && s.cfg.Knowledge == nil {
		return callwright.Invalid("kb_ids", "must be empty: no knowledge bases are connected")
	}
	return nil
}

// checkTools checks the tools of the model. The fields of its errors begin with "default_".
func (s *Service) checkTools(_ context.Context, v Version) error {
	return below("default_", tool.Check(v.Tools, MaxTools, s.cfg.Requests))
}

// checkConditions refuses conditions whose pathways have no version in production.
func (s *Service) checkConditions(ctx context.Context, v Version) error {
	checked := map[string]bool{}
	for i, c := range v.Conditions {
		if checked[c.Pathway] {
			continue
		}
		checked[c.Pathway] = true
		if s.cfg.Pathways == nil {
			return callwright.Errorf(callwright.CodeUnavailable, "this server has no pathways")
		}
		_, _, err := s.cfg.Pathways.Load(ctx, v.Org, c.Pathway, pathway.Selector{Environment: pathway.Production})
		if e, ok := errors.AsType[*callwright.Error](err); ok {
			named := *e
			named.Field = fmt.Sprintf("pathway_conditions[%d].pathway_id", i)
			return &named
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// below adds a prefix to the field of an error. It returns an error without a field unchanged.
func below(prefix string, err error) error {
	e, ok := errors.AsType[*callwright.Error](err)
	if !ok || e.Field == "" {
		return err
	}
	named := *e
	named.Field = prefix + e.Field
	return &named
}
