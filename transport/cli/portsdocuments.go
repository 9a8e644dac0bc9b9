package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/document"
	"github.com/callwright/callwright/porting/manual"
)

// PortDocuments opens documents of port requests; document.Service implements it.
type PortDocuments interface {
	// Open returns a document and a reader for its bytes. The reader is valid until ctx ends; the caller must close the reader.
	Open(ctx context.Context, org callwright.OrgID, id string) (document.Document, io.ReadCloser, error)
}

// PortLetters returns letters of authorization; loa.Service implements it.
type PortLetters interface {
	// LetterPDF returns the signed letter of a port request, or the unsigned letter if it was not signed. It returns CodeNotFound if the
	// letter is absent.
	LetterPDF(ctx context.Context, org callwright.OrgID, request string) (data []byte, signed bool, err error)
}

func (p *portsCommands) documentsCommand() *cobra.Command {
	var folder string
	cmd := &cobra.Command{
		Use: "documents ORDER", Short: "Write the bills and the signed letter of an order to files",
		Long: "Writes the documents of an order and its signed letter of authorization into a folder, for this user alone. No file is\n" +
			"replaced. Strangers have uploaded the documents: open them with care.",
		Args: exactly(1, "the reference of an order"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if folder == "" {
				return usage(errors.New("--out is required: the folder for the files"))
			}
			return p.with(cmd.Context(), func(ports *Ports) error { return p.documents(cmd, ports, args[0], folder) })
		},
	}
	cmd.Flags().StringVar(&folder, "out", "", "the `folder` of the files, which is created if it does not exist (required)")
	return cmd
}

// fileJSON describes a file that the command has written.
type fileJSON struct {
	File string `json:"file"`
	What string `json:"what"`
	Note string `json:"note,omitempty"`
}

// documents writes the documents of a port request, and the letter if it was signed here, to new files in a folder.
func (p *portsCommands) documents(cmd *cobra.Command, ports *Ports, ref, folder string) error {
	r, err := ports.Requests.RequestByRef(cmd.Context(), manual.Name, ref)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	written := []fileJSON{}
	for _, id := range r.Documents {
		f, err := ports.writeDocument(cmd.Context(), r, id, folder)
		if err != nil {
			return err
		}
		written = append(written, f)
	}
	letter, signed, err := ports.Letters.LetterPDF(cmd.Context(), r.Org, r.ID)
	switch {
	case err != nil && !errors.Is(err, callwright.ErrNotFound):
		return err
	case !signed:
		notice(cmd, "the letter was not signed online: use the one on paper")
	default:
		f := fileJSON{File: filepath.Join(folder, "letter-"+filepath.Base(r.ID)+".pdf"), What: "signed letter of authorization"}
		if err := create(f.File, bytes.NewReader(letter)); err != nil {
			return err
		}
		written = append(written, f)
	}
	return show(cmd, written, func(w *tabwriter.Writer) {
		for _, f := range written {
			printf(w, "%s\t%s\t%s\n", f.File, f.What, f.Note)
		}
	})
}

// extensions maps media types to the suffixes of file names.
var extensions = map[string]string{
	"application/pdf": ".pdf", "image/jpeg": ".jpg", "image/png": ".png", "image/gif": ".gif", "image/webp": ".webp", "image/tiff": ".tiff",
	"image/heic": ".heic", "image/heif": ".heif",
}

// writeDocument writes a document of a port request to a file in a folder.
func (p *Ports) writeDocument(ctx context.Context, r porting.Request, id, folder string) (fileJSON, error) {
	d, content, err := p.Documents.Open(ctx, r.Org, id)
	if err != nil {
		return fileJSON{}, fmt.Errorf("the document %s: %w", id, err)
	}
	f := fileJSON{File: filepath.Join(folder, filepath.Base(id)+extensions[d.Type]), What: "document, " + d.Type}
	switch {
	case d.Active:
		f.Note = "has scripts or launches programs: do not open it here"
	case d.Locked:
		f.Note = "needs a password: the carrier may refuse it"
	}
	return f, errors.Join(create(f.File, content), content.Close())
}

// create writes a new file that only this user may read. If the file exists, it returns CodeConflict and leaves the file unchanged. It
// deletes a partly written file.
func create(name string, content io.Reader) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return callwright.Errorf(callwright.CodeConflict, "%s already exists: name another folder with --out", name)
	}
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}
