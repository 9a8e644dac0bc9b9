package main

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"go.uber.org/fx"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/agents/llm"
)

// namedModel is a language model that clients ask for by name.
type namedModel struct {
	Name    string
	Model   string // as its service calls it
	BaseURL string // empty: that of --llm-base-url
	Key     string
}

// models are the values of --llm-models.
type models []namedModel

// String returns the models as the flag takes them.
func (m *models) String() string {
	all := make([]string, len(*m))
	for i, one := range *m {
		if all[i] = one.Name + "=" + one.Model; one.BaseURL != "" {
			all[i] += "@" + one.BaseURL
		}
	}
	return strings.Join(all, ",")
}

// Set reads name=model@base-url,... The name of a model may contain an @.
func (m *models) Set(text string) error {
	*m = nil
	for part := range strings.SplitSeq(text, ",") {
		name, rest, _ := strings.Cut(strings.TrimSpace(part), "=")
		one := namedModel{Name: name, Model: rest}
		if at := max(strings.LastIndex(rest, "@http://"), strings.LastIndex(rest, "@https://")); at >= 0 {
			one.Model, one.BaseURL = rest[:at], rest[at+1:]
		}
		switch u, err := url.Parse(one.BaseURL); {
		case name == "" || one.Model == "" || len(name) > maxModelName || err != nil || one.BaseURL != "" && u.Host == "":
			return errors.New("must be name=model@base-url, several of them with commas, such as strict=large-2@https://models.example/v1")
		case slices.ContainsFunc(*m, func(other namedModel) bool { return other.Name == name }):
			return fmt.Errorf("has the name %q twice", name)
		}
		*m = append(*m, one)
	}
	return nil
}

// maxModelName bounds the names of models in bytes, as requests do.
const maxModelName = 128

// completeModels gives the models of --llm-models their base URLs and their keys. A key goes to no other service than it was given for.
func (c *config) completeModels(keys string) error {
	given := map[string]string{}
	for part := range strings.SplitSeq(keys, ",") {
		if name, key, ok := strings.Cut(strings.TrimSpace(part), "="); ok {
			given[name] = key
		} else if part != "" {
			return errors.New("--llm-api-keys must be name=key, several of them with commas")
		}
	}
	for i := range c.LLMModels {
		m := &c.LLMModels[i]
		if m.BaseURL == "" && c.LLMBaseURL == "" {
			return fmt.Errorf("--llm-models %s=%s needs a base URL (%s=%s@https://...), or --llm-base-url", m.Name, m.Model, m.Name, m.Model)
		}
		if m.BaseURL == "" || m.BaseURL == c.LLMBaseURL {
			m.BaseURL, m.Key = c.LLMBaseURL, c.LLMAPIKey
		}
		if key, ok := given[m.Name]; ok {
			m.Key = key
			delete(given, m.Name)
		}
	}
	for name := range given {
		return fmt.Errorf("--llm-api-keys has a key for %q, which --llm-models does not name", name)
	}
	return nil
}

// newModels makes the models of --llm-models.
func newModels(lc fx.Lifecycle, all models) (map[string]llm.Model, error) {
	made := make(map[string]llm.Model, len(all))
	for _, m := range all {
		service, err := openai.New(openai.Config{BaseURL: m.BaseURL, Model: m.Model, APIKey: callwright.Secret(m.Key)})
		if err != nil {
			return nil, fmt.Errorf("--llm-models %s: %w", m.Name, err)
		}
		lc.Append(fx.StopHook(service.Close))
		made[m.Name] = service
	}
	return made, nil
}
