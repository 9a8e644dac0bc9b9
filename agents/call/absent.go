package call

import (
	"context"
	"io"
	"iter"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/request"
)

// The null implementations of optional ports.
type (
	noAgents     struct{}
	noModel      struct{}
	noRoutes     struct{}
	noRecordings struct{}
	noNotifier   struct{}
	noRequests   struct{}
)

var (
	errNoModel    = &llm.Failure{Class: llm.ClassUnsupported, Message: "this server has no language model"}
	errNoAgents   = callwright.Errorf(callwright.CodeUnavailable, "this server cannot place calls: it has no agents")
	errNoRoutes   = callwright.Errorf(callwright.CodeUnavailable, "this server cannot place calls: it has no routes")
	errNoFiles    = callwright.InField("record", callwright.Errorf(callwright.CodeUnavailable, "this server records no calls"))
	errNotSent    = callwright.Errorf(callwright.CodeForbidden, "this server sends nothing to webhooks")
	errNoWebhooks = callwright.InField("webhook", callwright.Errorf(callwright.CodeUnavailable, "this server sends nothing to webhooks"))
	errNoRequests = callwright.Errorf(callwright.CodeUnavailable, "this server sends no requests to other systems")
)

func (noAgents) Answering(context.Context, callwright.OrgID, callwright.PhoneNumber) (agents.Agent, error) {
	return agents.Agent{MaxDuration: agents.DefaultMaxDuration}, nil
}

func (noAgents) Calling(context.Context, callwright.OrgID, agents.Choice) (agents.Agent, error) {
	return agents.Agent{}, errNoAgents
}

func (noModel) Name() string { return "" }

func (noModel) Reply(context.Context, llm.ReplyRequest) iter.Seq2[llm.ReplyPart, error] {
	return func(yield func(llm.ReplyPart, error) bool) { yield(llm.ReplyPart{}, errNoModel) }
}

func (noModel) Answer(context.Context, llm.Question) (llm.Answer, error) {
	return llm.Answer{}, errNoModel
}

func (noRoutes) Caller(context.Context, callwright.OrgID, callwright.PhoneNumber) (callwright.PhoneNumber, error) {
	return "", errNoRoutes
}

func (noRecordings) Create(context.Context, callwright.OrgID, string) (RecordingFile, error) {
	return nil, errNoFiles
}

func (noRecordings) Open(context.Context, callwright.OrgID, string) (io.ReadSeekCloser, error) {
	return nil, callwright.NotFound("recording")
}

func (noNotifier) Notify(context.Context, callwright.OrgID, string, Call, []Entry, []pathway.Log) error {
	return errNotSent
}

func (noNotifier) NotifyEvent(context.Context, callwright.OrgID, string, Call, Notice) error {
	return errNotSent
}

func (noRequests) CheckURL(string) error { return errNoRequests }

func (noRequests) Do(context.Context, request.Request) (request.Response, error) {
	return request.Response{}, errNoRequests
}
