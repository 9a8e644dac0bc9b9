package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright/platform"
)

// TestModels checks the models that result from --llm-models and --llm-api-keys, and the errors for invalid values.
func TestModels(t *testing.T) {
	t.Parallel()
	const here, there = "http://here.example/v1", "http://there.example/v1"
	c, err := parse([]string{
		"--llm-base-url", here, "--llm-model", "small", "--llm-api-key", "k1", "--llm-models", "near=large@2,far=x/@y@" + there + ", secret=z@" + there + ",open=o@openai+" + there,
		"--llm-api-keys", "secret=k2",
	}, nil)
	want := []platform.NamedModel{
		{Name: "near", Model: "large@2", BaseURL: here, Key: "k1"}, {Name: "far", Model: "x/@y", BaseURL: there},
		{Name: "secret", Model: "z", BaseURL: there, Key: "k2"}, {Name: "open", Model: "o", BaseURL: "openai+" + there},
	}
	if err != nil || !slices.Equal(c.to.LLMModels, want) {
		t.Errorf("got %+v, %v", c.to.LLMModels, err)
	}
	for args, want := range map[string]string{
		"--llm-models strict":                    "must be name=model@base-url",
		"--llm-models =x@http://a":               "must be name=model@base-url",
		"--llm-models a=@http://a":               "must be name=model@base-url",
		"--llm-models a=x@http://a,a=y@http://a": "twice",
		"--llm-models a=x":                       "requires a base URL",
		"--llm-models a=x@gopher+http://a":       `protocol before the + must be`,
		"--llm-api-keys a=k":                     "which --llm-models does not name",
		"--llm-api-keys k":                       "must be name=key",
	} {
		if _, err := parse(strings.Fields(args), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
}
