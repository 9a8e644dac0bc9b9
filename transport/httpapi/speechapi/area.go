package speechapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/ogen-go/ogen/ogenerrors"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/node"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/transport/httpapi"
	oas "github.com/callwright/callwright/transport/oas/speechoas"
)

// Config configures the area.
type Config struct {
	Speech *speech.Service // nil: the operations answer 501
	URL    string          // of this server as clients see it, without a slash at its end; required with Speech: links begin with it
}

// api implements the operations of the area.
type api struct {
	oas.UnimplementedHandler
	speech *speech.Service
	url    string
	audio  *node.Budget // bytes of audio within JSON
	core   *httpapi.API
}

// New makes the area.
func New(c Config) httpapi.Area {
	a := &api{speech: c.Speech, url: c.URL, audio: newAudio()}
	refused := map[callwright.Code]string{callwright.CodeBadRequest: "VALIDATION_ERROR"}
	return httpapi.Area{
		Build: a.serve,
		Wants: oas.Wants, NullIsAbsent: oas.NullIsAbsent, NoEffect: oas.NoEffect,
		Absent:    func(string) bool { return c.Speech == nil },
		NoUploads: c.Speech == nil,
		Repeatable: map[string]func() httpapi.Answer{
			oas.CreateSpeechOperation: func() httpapi.Answer { return new(created) },
		},
		Detached: map[string]bool{oas.CreateSpeechOperation: true},
		Errors: httpapi.ErrorForm{Names: map[string]map[callwright.Code]string{
			oas.CloneVoiceOperation: refused, oas.RenameVoiceOperation: refused, oas.RenameVoiceAliasOperation: refused,
			oas.DeleteVoiceOperation: {callwright.CodeBadRequest: "ERROR_DELETING_VOICE"},
		}},
	}
}

// serve makes the generated server of the area.
func (a *api) serve(core *httpapi.API) (httpapi.Server, error) {
	if a.speech != nil && a.url == "" {
		return nil, errors.New("speechapi: Config.URL is required with Config.Speech")
	}
	a.core = core
	server, err := httpapi.Generated(oas.NewServer(a, a, a, oas.WithErrorHandler(a.refuse),
		oas.WithMethodNotAllowed(httpapi.MethodNotAllowed), oas.WithMiddleware(negotiate, core.Middleware, keepable),
		oas.WithMaxMultipartMemory(httpapi.UploadMemory)))
	return speaking{server}, err
}

// NewError returns the answer to a request that failed.
func (a *api) NewError(ctx context.Context, err error) *oas.ErrorStatusCodeWithHeaders {
	f := httpapi.NewFailure(ctx, err)
	answer := &oas.ErrorStatusCodeWithHeaders{StatusCode: f.Status, RetryAfter: f.RetryAfter}
	_ = answer.Response.UnmarshalJSON(f.Body) // which it has written itself
	return answer
}

// HandleApiKey authenticates a request. A request by link needs no key: GetSpeechSample checks its signature.
func (a *api) HandleApiKey(ctx context.Context, operation oas.OperationName, given oas.ApiKey) (context.Context, error) {
	if operation == oas.GetSpeechSampleOperation && isLink(given.Request) {
		return ctx, ogenerrors.ErrSkipServerSecurity
	}
	return a.core.Authorize(ctx, given.Request, given.Roles)
}

// refuse answers requests that the generated code could not decode, and replaces answers that it could not send. A link that cannot be
// decoded was changed. An answer that has begun as audio cannot become an error: refuse closes the connection.
func (a *api) refuse(ctx context.Context, w http.ResponseWriter, r *http.Request, err error) {
	if w.Header().Get("Content-Type") == wav {
		panic(http.ErrAbortHandler)
	}
	if _, ok := errors.AsType[*ogenerrors.DecodeParamsError](err); ok && a.speech != nil && isLink(r) {
		_, err = a.speech.Linked(ctx, speech.Link{})
	}
	if _, ok := errors.AsType[*ogenerrors.DecodeRequestError](err); ok && r.MultipartForm != nil {
		err = formFault(r.MultipartForm, err)
	}
	httpapi.HandleError(ctx, w, r, err)
}
