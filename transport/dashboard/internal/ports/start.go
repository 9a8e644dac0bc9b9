package ports

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// start holds the data of the page that starts a request. It never contains the typed PIN or account number.
type start struct {
	Typed     map[string]string
	Documents []upload // uploaded before
	MaxFiles  int
	Faults    page.Faults
}

// upload is a document with the name of its uploaded file. The document does not store the name, so the form carries it.
type upload struct{ ID, Name string }

// add adds a document to the form. If the file has no name, the id is shown instead.
func (s *start) add(id, name string) {
	s.Documents = append(s.Documents, upload{id, callwright.Clip(cmp.Or(name, id), maxShown)})
}

// inputs names the inputs of the form that show their typed values again.
var inputs = []string{
	"phone_numbers", "customer_type", "business_name", "first_name", "last_name", "authorized_representative_email", "notification_emails",
	"street", "street2", "city", "state", "zip", "country", "inbound_allowed_ips", "target_port_date",
}

// fields names all inputs of the form.
var fields = append([]string{"account_number", "pin", "documents", "file"}, inputs...)

func (p pages) showNew(_ context.Context, r *page.Request) (page.Answer, error) {
	return &page.View{Page: "new", Title: "Port numbers", Data: start{
		Typed: map[string]string{"phone_numbers": r.Query("numbers"), "country": "US"}, MaxFiles: maxFiles,
	}}, nil
}

// start uploads the form's files, and starts a port request with them and the documents that were uploaded before. If the data is invalid,
// the form is shown again.
func (p pages) start(ctx context.Context, r *page.Request) (page.Answer, error) {
	data := start{Typed: map[string]string{}, MaxFiles: maxFiles}
	for _, id := range r.PostForm["documents"] {
		data.add(id, r.Field("name-"+id))
	}
	for _, name := range inputs {
		data.Typed[name] = r.Field(name)
	}
	err := p.upload(ctx, r, &data)
	var request porting.Request
	if err == nil {
		request, err = p.initiate(ctx, r, data)
	}
	if faults, ok := faultsOf(err, data.lists()); ok {
		data.Faults = faults
		data.Documents = data.Documents[:min(len(data.Documents), porting.MaxDocuments)]
		return &page.View{Page: "new", Title: "Port numbers", Status: http.StatusUnprocessableEntity, Data: data}, nil
	}
	if err != nil {
		return nil, err
	}
	return page.SeeOther{
		To: page.Path("/ports", request.ID), Notice: "The request is made. The letter of authorization is on its way to " + request.Account.Email + ".",
	}, nil
}

// upload stores the files of the form and adds the documents to data. It stops at the first error.
func (p pages) upload(ctx context.Context, r *page.Request, data *start) error {
	if r.MultipartForm == nil {
		return nil
	}
	sent := r.MultipartForm.File["file"]
	if len(sent) > maxFiles {
		return callwright.Invalid("file", "must be at most %d files in one form", maxFiles)
	}
	for _, header := range sent {
		if header.Filename == "" && header.Size == 0 {
			continue // the user chose no file
		}
		f, err := header.Open()
		if err != nil {
			return err
		}
		d, err := p.cfg.Documents.Upload(ctx, r.Org(), f)
		_ = f.Close() // the file is already read
		if err != nil {
			return err
		}
		data.add(d.ID, header.Filename)
	}
	return nil
}

// lists returns the members of the inputs that are lists, by input. Documents are listed by the names of their files.
func (s start) lists() map[string][]string {
	all := map[string][]string{
		"phone_numbers": splitNumbers(s.Typed["phone_numbers"]), "notification_emails": splitNumbers(s.Typed["notification_emails"]),
		"inbound_allowed_ips": splitNumbers(s.Typed["inbound_allowed_ips"]),
	}
	for _, d := range s.Documents {
		all["documents"] = append(all["documents"], d.Name)
	}
	return all
}

// initiate starts a port request with the fields of the form.
func (p pages) initiate(ctx context.Context, r *page.Request, data start) (porting.Request, error) {
	lists := data.lists()
	d := porting.Draft{
		Account: porting.Account{
			CustomerType: porting.CustomerType(r.Field("customer_type")), BusinessName: r.Field("business_name"),
			FirstName: r.Field("first_name"), LastName: r.Field("last_name"), AccountNumber: callwright.Secret(r.Field("account_number")),
			Email: r.Field("authorized_representative_email"), NotifyEmails: lists["notification_emails"],
			Address: porting.Address{
				Street: r.Field("street"), Street2: r.Field("street2"), City: r.Field("city"), State: r.Field("state"), Zip: r.Field("zip"),
				Country: r.Field("country"),
			},
		},
		PIN: callwright.Secret(r.Field("pin")),
	}
	d.CallsFrom = lists["inbound_allowed_ips"]
	for _, u := range data.Documents {
		d.Documents = append(d.Documents, u.ID)
	}
	for _, n := range typedNumbers(lists["phone_numbers"]) {
		d.Numbers = append(d.Numbers, porting.NumberDraft{Number: n})
	}
	if text := r.Field("target_port_date"); text != "" {
		var err error
		if d.TargetDate, err = time.Parse(time.DateOnly, text); err != nil {
			return porting.Request{}, callwright.Invalid("target_port_date", "must be a date such as 2026-01-31")
		}
	}
	request, _, err := p.cfg.Ports.Initiate(ctx, r.Org(), d)
	return request, err
}
