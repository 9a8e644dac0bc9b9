package portingapi

import (
	"context"

	"github.com/ogen-go/ogen/middleware"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/httpapi"
	oas "github.com/callwright/callwright/transport/oas/portingoas"
)

// UploadPortDocument serves POST /v1/sip/port/document. It stores a document. Except for a small part in memory, the upload is in a
// temporary file until the request ends.
func (a *api) UploadPortDocument(ctx context.Context, req *oas.PortDocumentUploadMultipart) (*oas.PortDocumentReply, error) {
	d, err := a.cfg.Documents.Upload(ctx, httpapi.Org(ctx), req.File.File)
	if err != nil {
		return nil, err
	}
	httpapi.LogID(ctx, "document_sid", d.ID)
	return &oas.PortDocumentReply{Data: oas.PortDocument{DocumentSid: d.ID}}, nil
}

// oneFile refuses a form with several files. The generated code would accept the first one.
func oneFile(req middleware.Request, next middleware.Next) (middleware.Response, error) {
	if form := req.Raw.MultipartForm; form != nil && len(form.File["file"])+len(form.Value["file"]) > 1 {
		return middleware.Response{}, callwright.Invalid("file", "must be one file")
	}
	return next(req)
}
