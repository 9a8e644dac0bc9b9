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
	Speech *speech.Service // if nil, the operations answer 501
	URL    string          `required:"with Speech"` // public URL of the server for links, without a trailing slash
}

// api implements the operations of the area.
type api struct {
	oas.UnimplementedHandler
	cfg   Config
	audio *node.Budget // limits the bytes of audio in JSON answers
}

// New returns the area of speech. If the configuration is incomplete, httpapi.New returns the error.
func New(c Config) httpapi.Area {
	a := &api{cfg: c, audio: newAudio()}
	refused := map[callwright.Code]string{callwright.CodeBadRequest: "VALIDATION_ERROR"}
	area := httpapi.Area{
		Area:      oas.Area(a),
		Absent:    func(string) bool { return c.Speech == nil },
		NoUploads: c.Speech == nil,
		Detached:  map[string]bool{oas.CreateSpeechOperation: true},
		Names: map[string]map[callwright.Code]string{
			oas.CloneVoiceOperation: refused, oas.RenameVoiceOperation: refused, oas.RenameVoiceAliasOperation: refused,
			oas.DeleteVoiceOperation: {callwright.CodeBadRequest: "ERROR_DELETING_VOICE"},
		},
		// A link requires no key, because GetSpeechSample checks its signature.
		Keyless: func(operation string, r *http.Request) bool {
			return operation == oas.GetSpeechSampleOperation && isLink(r)
		},
		Refuse: a.refuse,
		Outer:  negotiate, Inner: keepable,
		Wrap: func(s httpapi.Server) (httpapi.Server, error) {
			if err := callwright.PrepareConfig(&c); err != nil {
				return nil, err
			}
			return speaking{s}, nil
		},
	}
	area.Repeatable = map[string]func() httpapi.Answer{oas.CreateSpeechOperation: func() httpapi.Answer { return new(created) }}
	return area
}

// refuse answers requests that the generated code could not decode, and answers that it could not send. A link that cannot be decoded is
// treated as a link with an invalid signature. If the answer has begun as audio, it cannot become an error, so refuse aborts the
// connection.
func (a *api) refuse(ctx context.Context, w http.ResponseWriter, r *http.Request, err error) {
	if w.Header().Get("Content-Type") == wav {
		panic(http.ErrAbortHandler)
	}
	if _, ok := errors.AsType[*ogenerrors.DecodeParamsError](err); ok && a.cfg.Speech != nil && isLink(r) {
		_, err = a.cfg.Speech.Linked(ctx, speech.Link{})
	}
	if _, ok := errors.AsType[*ogenerrors.DecodeRequestError](err); ok && r.MultipartForm != nil {
		err = formFault(r.MultipartForm, err)
	}
	httpapi.HandleError(ctx, w, r, err)
}
