package engine

import (
	"context"
	"iter"

	"github.com/callwright/callwright/agents/llm"
)

// noModel is the model of an engine without a configured model. All its calls fail.
type noModel struct{}

func (noModel) Name() string { return "none" }

func (noModel) Reply(context.Context, llm.ReplyRequest) iter.Seq2[llm.ReplyPart, error] {
	return func(yield func(llm.ReplyPart, error) bool) { yield(llm.ReplyPart{}, unconfigured()) }
}

func (noModel) Answer(context.Context, llm.Question) (llm.Answer, error) {
	return llm.Answer{}, unconfigured()
}

func unconfigured() error {
	return &llm.Failure{Class: llm.ClassUnsupported, Message: "no language model is configured"}
}
