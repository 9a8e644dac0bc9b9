package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright/porting/loa"
)

// The bounds of files that callwright ports verify reads, in bytes.
const (
	maxEvidence = 4 << 20
	maxPDF      = 20 << 20
)

func (p *portsCommands) verifyCommand() *cobra.Command {
	var letter, signed string
	cmd := &cobra.Command{
		Use: "verify EVIDENCE.json", Short: "Check the audit trail of a letter of authorization, without a server or a database",
		Long: "Checks that each event of an audit trail has its hash and that of the event before, that none is missing, and that the PDFs\n" +
			"are those that it has recorded. It cannot tell who wrote the trail: compare the hash of the signature with the one on the\n" +
			"certificate page of a signed letter that somebody else has, or the head with another copy of it.\n\n" +
			"The file has the answer of GET /v1/sip/port/{id}/letter, or its data.evidence alone.",
		Args: exactly(1, "the file of the evidence"),
		RunE: func(cmd *cobra.Command, args []string) error { return p.verify(cmd, args[0], letter, signed) },
	}
	cmd.Flags().StringVar(&letter, "letter", "", "a `file` with the letter as it was made, to compare it, too")
	cmd.Flags().StringVar(&signed, "signed", "", "a `file` with the signed letter, to compare it, too")
	return cmd
}

// verifiedJSON says what was proved.
type verifiedJSON struct {
	Request  string `json:"port_request_id"`
	Events   int    `json:"events"`
	Head     string `json:"head"`
	SignedBy string `json:"signed_by,omitempty"`
	SignedAt string `json:"signed_at,omitempty"`

	SignedEvent int    `json:"signed_event,omitempty"`      // number of the event of the signature
	SignedHash  string `json:"signed_event_hash,omitempty"` // its hash, which the certificate page shows

	Letter bool `json:"letter_checked"`
	Signed bool `json:"signed_letter_checked"`
}

// evidenceOf reads the evidence of a letter, by itself or within the answer of GET /v1/sip/port/{id}/letter, and nothing else.
func evidenceOf(raw []byte) (e loa.Evidence, err error) {
	var answer struct {
		Data struct {
			Letter   json.RawMessage `json:"letter"`
			Evidence json.RawMessage `json:"evidence"`
		} `json:"data"`
		Errors any `json:"errors"`
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if json.Valid(raw) && d.Decode(&answer) == nil && answer.Data.Evidence != nil {
		raw = answer.Data.Evidence
	}
	return e, json.Unmarshal(raw, &e)
}

// verify is callwright ports verify.
func (p *portsCommands) verify(cmd *cobra.Command, evidence, letter, signed string) error {
	raw, err := readFile(evidence, maxEvidence)
	if err != nil {
		return usage(err)
	}
	e, err := evidenceOf(raw)
	if err != nil {
		return usage(fmt.Errorf("%s: this is not the evidence of a letter: %w", evidence, err))
	}
	pdfs := make([][]byte, 2)
	for i, name := range []string{letter, signed} {
		if name == "" {
			continue
		}
		if pdfs[i], err = readFile(name, maxPDF); err != nil {
			return usage(err)
		}
	}
	if err := loa.Verify(e, pdfs[0], pdfs[1]); err != nil {
		return refusal(fmt.Errorf("%s: %w", evidence, err))
	}
	v := verifiedJSON{Request: e.Request, Events: len(e.Events), Head: e.Head, Letter: letter != "", Signed: signed != ""}
	for _, event := range e.Events {
		if event.Kind == loa.EventSigned {
			v.SignedBy, v.SignedAt, v.SignedEvent, v.SignedHash = event.Name, stamp(event.At), event.Number, event.Hash
		}
	}
	return p.print(cmd, v, func(w *tabwriter.Writer) {
		_, _ = fmt.Fprintf(w, "Request\t%s\nEvents\t%d, none changed and none missing\nHead\t%s\n", v.Request, v.Events, v.Head)
		if v.SignedBy != "" {
			_, _ = fmt.Fprintf(w, "Signed\tby %s at %s, event %d\nCertificate\tshows the hash of event %d: %s\n",
				v.SignedBy, v.SignedAt, v.SignedEvent, v.SignedEvent, v.SignedHash)
		}
		for i, name := range []string{letter, signed} {
			if name != "" {
				_, _ = fmt.Fprintf(w, "%s\t%s is the PDF that was recorded\n", []string{"Letter", "Signed letter"}[i], name)
			}
		}
	})
}

// readFile reads a file whose size is bounded.
func readFile(name string, most int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	raw, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(raw)) > most {
		return nil, fmt.Errorf("%s: must have at most %d bytes", name, most)
	}
	if raw == nil {
		raw = []byte{}
	}
	return raw, nil
}
