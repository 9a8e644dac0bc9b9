// Package speech contains the dashboard's pages of speech. They list voices and samples, synthesize texts and clone voices from recordings.
package speech

import (
	"context"
	"embed"
	"io/fs"
	"slices"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

//go:embed templates/*.html
var files embed.FS

// Config configures the pages. Speech is required.
type Config struct {
	Speech *speech.Service
	// Names returns the names of API keys by their ids, which samples and voices store. It omits unknown ids. If nil, the pages show ids.
	Names func(ctx context.Context, org callwright.OrgID, ids []string) (map[string]string, error)
}

type pages struct{ cfg Config }

// keyName returns the name of a key, or an empty text if the key is unknown.
func (p pages) keyName(ctx context.Context, r *page.Request, id string) (string, error) {
	if p.cfg.Names == nil || id == "" {
		return "", nil
	}
	found, err := p.cfg.Names(ctx, r.Org(), []string{id})
	return found[id], err
}

// maxUpload is the maximum size of a voice's recordings, in bytes. The HTTP API has the same limit.
const maxUpload = 10 << 20

// New returns the area of the speech pages. It panics if the embedded templates cannot be opened.
func New(c Config) page.Area {
	p := pages{c}
	templates, err := fs.Sub(files, "templates")
	if err != nil {
		panic(err) // impossible: the folder is embedded
	}
	return page.Area{
		Title: "Speech", Path: "/speech", Templates: templates,
		Routes: []page.Route{
			{Pattern: "GET /speech", Serve: p.showSpeak},
			{Pattern: "GET /speech/samples", Serve: p.samples},
			{Pattern: "POST /speech/samples", Serve: p.speak},
			{Pattern: "GET /speech/samples/{id}", Serve: p.sample},
			{Pattern: "GET /speech/samples/{id}/audio", Serve: p.audio},
			{Pattern: "POST /speech/samples/{id}/delete", Serve: p.deleteSample},
			{Pattern: "GET /speech/voices", Serve: p.voices},
			{Pattern: "POST /speech/voices", Files: maxUpload, Serve: p.clone},
			{Pattern: "GET /speech/voices/{id}", Serve: p.voice},
			{Pattern: "POST /speech/voices/{id}/name", Serve: p.rename},
			{Pattern: "POST /speech/voices/{id}/delete", Serve: p.delete},
			{Pattern: "GET /speech/clone", Serve: p.showClone},
		},
	}
}

// names maps the ids of voices to their names.
func names(voices []speech.Voice) map[string]string {
	m := make(map[string]string, len(voices))
	for _, v := range voices {
		m[v.ID] = v.Name
	}
	return m
}

// choice holds the options of a form that selects a voice or a language.
type choice struct {
	Voices    []speech.Voice
	Default   string   // name of the engine's default voice
	Languages []string // sorted languages of the voices
}

func (p pages) choice(ctx context.Context, r *page.Request) (choice, error) {
	voices, err := p.cfg.Speech.Voices(ctx, r.Org())
	c := choice{Voices: voices, Default: p.cfg.Speech.Engine().Default}
	for _, v := range voices {
		if v.Language != "" {
			c.Languages = append(c.Languages, v.Language)
		}
	}
	slices.Sort(c.Languages)
	c.Languages = slices.Compact(c.Languages)
	return c, err
}
