package platform

import (
	"fmt"
	"strings"

	"go.uber.org/fx"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/speech/tts"
	"github.com/callwright/callwright/transport/dashboard"
)

// runsOn describes the adapters of the platform in words.
type runsOn struct {
	fx.In
	Config  Config
	Engines engines
	Mail    mailedBy
	Model   llm.Model

	SpeechEngine tts.Engine
}

// list returns human-readable descriptions of the platform's adapters, with the flags, if any, that change an adapter.
func (p runsOn) list() []dashboard.Part {
	return []dashboard.Part{
		{Name: "region", By: p.Config.Region, Hint: "--region"},
		{Name: "model", By: p.Model.Name(), Hint: "--llm-base-url, --llm-model"},
		{Name: "speaks by", By: p.Engines.speaksBy, Hint: "--tts"},
		{Name: "hears by", By: p.Engines.hearsBy, Hint: "--stt"},
		{Name: "clones", By: p.clonedBy()},
		{Name: "storage", By: p.storedIn(), Hint: "--database-url, --data"},
		{Name: "mail", By: string(p.Mail), Hint: "--smtp-url"},
		{Name: "issues", By: p.analyzedBy(), Hint: "--llm-base-url"},
		{Name: "", By: fmt.Sprintf("opened by calls that fail: %t", p.Config.FailedCallIssues), Hint: "--failed-call-issues"},
		{Name: "knowledge", By: "no knowledge base is connected; inline texts only"},
		{Name: "tests", By: "judged " + p.judgedBy(), Hint: "--llm-base-url"},
		{Name: "", By: fmt.Sprintf("runs that fail open issues: %t", p.Config.FailedTestIssues), Hint: "--failed-test-issues"},
		{Name: "tornado", By: p.mendedBy(), Hint: "--llm-base-url"},
		{Name: "ports", By: p.portedBy(), Hint: "--port-gateway"},
		{Name: "", By: fmt.Sprintf("requests that fail open issues: %t", p.Config.FailedPortIssues), Hint: "--failed-port-issues"},
	}
}

// storedIn describes where data is stored. The text contains no paths, hosts or passwords, because members of every organization can read
// it.
func (p runsOn) storedIn() string {
	database := "PostgreSQL"
	if strings.HasPrefix(p.Config.DatabaseURL, "sqlite:") {
		database = "SQLite"
	}
	if p.Config.Database != nil {
		database = "a database of the program"
	}
	switch {
	case p.Config.Recordings == nil && p.Config.SpeechBlobs == nil:
		return database + "; recordings and speech in the data folder"
	case p.Config.Recordings != nil && p.Config.SpeechBlobs != nil:
		return database + "; recordings and speech where the program keeps them"
	default:
		return database + "; recordings and speech in the data folder and where the program keeps them"
	}
}

// missing returns the missing parts without which no calls are possible, or nil.
func (p runsOn) missing() []dashboard.Part {
	if err := p.Engines.Ready(); err != nil {
		return []dashboard.Part{{Name: "calls", By: err.Error(), Missing: true}}
	}
	return nil
}
