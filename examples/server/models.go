package main

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/platform"
)

// models is the flag --llm-models: a list of named models.
type models []platform.NamedModel

// String returns the models in the format of the flag.
func (m *models) String() string {
	all := make([]string, len(*m))
	for i, one := range *m {
		if all[i] = one.Name + "=" + one.Model; one.BaseURL != "" {
			all[i] += "@" + one.BaseURL
		}
	}
	return strings.Join(all, ",")
}

// modelAddress matches the base URL at the end of a model, with its protocol, if it names one: see platform.NamedModel.
var modelAddress = regexp.MustCompile(`^(.*)@((?:[a-z]+\+)?https?://.*)$`)

// Set parses a comma-separated list of name=model@base-url. The base URL is optional, and the model may contain an @.
func (m *models) Set(text string) error {
	*m = nil
	for part := range strings.SplitSeq(text, ",") {
		name, rest, _ := strings.Cut(strings.TrimSpace(part), "=")
		one := platform.NamedModel{Name: name, Model: rest}
		if found := modelAddress.FindStringSubmatch(rest); found != nil {
			one.Model, one.BaseURL = found[1], found[2]
		}
		switch u, err := url.Parse(one.BaseURL); {
		case name == "" || one.Model == "" || len(name) > maxModelName || err != nil || one.BaseURL != "" && u.Host == "":
			return fmt.Errorf("must be name=model@base-url or name=model, several of them separated by commas, such as strict=large-2@https://models.example/v1, "+
				"with names of 1 to %d bytes", maxModelName)
		case slices.ContainsFunc(*m, func(other platform.NamedModel) bool { return other.Name == name }):
			return fmt.Errorf("must not have the name %q twice", name)
		}
		*m = append(*m, one)
	}
	return nil
}

// maxModelName is the maximum length of a model's name in bytes, equal to the limit in requests.
const maxModelName = 128

// completeModels sets the base URLs and keys of the models in --llm-models. A model whose base URL differs from --llm-base-url never uses
// the key of --llm-base-url.
func (c *config) completeModels(keys string) error {
	given := map[string]string{}
	for part := range strings.SplitSeq(keys, ",") {
		if name, key, ok := strings.Cut(strings.TrimSpace(part), "="); ok {
			given[name] = key
		} else if part != "" {
			return errors.New("--llm-api-keys must be name=key, several of them separated by commas")
		}
	}
	for i := range c.models {
		m := &c.models[i]
		if m.BaseURL == "" && c.to.LLMBaseURL == "" {
			return fmt.Errorf("--llm-models %s=%s requires a base URL (%s=%s@https://...), or --llm-base-url", m.Name, m.Model, m.Name, m.Model)
		}
		if m.BaseURL == "" || m.BaseURL == c.to.LLMBaseURL {
			m.BaseURL, m.Key = c.to.LLMBaseURL, c.to.LLMAPIKey
		}
		if key, ok := given[m.Name]; ok {
			m.Key = callwright.Secret(key)
			delete(given, m.Name)
		}
	}
	for name := range given {
		return fmt.Errorf("--llm-api-keys has a key for %q, which --llm-models does not name", name)
	}
	c.to.LLMModels = c.models
	return nil
}
