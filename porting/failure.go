package porting

import "slices"

// Party is the party that must act to resolve a failure.
type Party string

// The parties that can resolve a failure.
const (
	ActCustomer Party = "customer" // corrects the request's data, or resolves the failure with the losing carrier
	ActSigner   Party = "signer"   // the authorized representative
	ActCarrier  Party = "carrier"  // the losing carrier; everyone else waits
	ActOperator Party = "operator" // the operator of this deployment
	ActNobody   Party = "nobody"   // no party: the number cannot be ported
)

// Parties returns every Party, in the order of the constants.
func Parties() []Party { return []Party{ActCustomer, ActSigner, ActCarrier, ActOperator, ActNobody} }

// FailureCode is the reason why a number is not ported or is held up. All gateways use the same codes.
type FailureCode string

// The failure codes. Remedies describes each of them.
const (
	AccountNumberMismatch    FailureCode = "account_number_mismatch"
	AccountNumberRequired    FailureCode = "account_number_required"
	AuthorizedPersonMismatch FailureCode = "authorized_person_mismatch"
	BillingNumberMismatch    FailureCode = "billing_number_mismatch"
	BusinessNameMismatch     FailureCode = "business_name_mismatch"
	AddressMismatch          FailureCode = "address_mismatch"
	PostalCodeMismatch       FailureCode = "postal_code_mismatch"
	PINInvalid               FailureCode = "pin_invalid"
	PINRequired              FailureCode = "pin_required"
	NumberNotFound           FailureCode = "number_not_found"
	NumberInactive           FailureCode = "number_inactive"
	NumberNotPortable        FailureCode = "number_not_portable"
	RateCenterNotCovered     FailureCode = "rate_center_not_covered"
	PendingOrder             FailureCode = "pending_order"
	PortFreeze               FailureCode = "port_freeze"
	SpecialFeature           FailureCode = "special_feature"
	MainBillingNumber        FailureCode = "main_billing_number"
	SplitRequired            FailureCode = "split_required"
	WrongPortType            FailureCode = "wrong_port_type"
	FOCRejected              FailureCode = "foc_rejected"
	FOCExpired               FailureCode = "foc_expired"
	CarrierUnresponsive      FailureCode = "carrier_unresponsive"
	NPACConflict             FailureCode = "npac_conflict"
	OutstandingBalance       FailureCode = "outstanding_balance"
	LOAInvalid               FailureCode = "loa_invalid"
	LOADeclined              FailureCode = "loa_declined"
	SignatureTooLate         FailureCode = "signature_expired"
	DocumentRejected         FailureCode = "document_rejected"
	GatewayError             FailureCode = "gateway_error"
	ActivationFailed         FailureCode = "activation_failed"
	RegistrationConflict     FailureCode = "registration_conflict"
	OtherFailure             FailureCode = "other"
)

// Failure is the reason why a number or a request has failed or is held up.
type Failure struct {
	Code FailureCode
	Raw  string // the carrier's original message, at most MaxRaw bytes; for the operator, never shown to customers
}

// MaxRaw is the maximum length in bytes of a carrier's original message, Failure.Raw, and of an operator's note.
const MaxRaw = 1000

// Remedy describes a failure code: its meaning, and the party that must act.
type Remedy struct {
	Code  FailureCode
	Act   Party
	Field string // field of the request to correct; may be empty
	Text  string // describes the failure and its remedy
}

const account = "losing_carrier_information."

// remedies contains one Remedy for each failure code, in the order of the constants.
var remedies = []Remedy{
	{AccountNumberMismatch, ActCustomer, account + "account_number", "The account number is not the one that the losing carrier has. Copy it from a bill, and request the port again."},
	{AccountNumberRequired, ActCustomer, account + "account_number", "The losing carrier asks for an account number. Copy it from a bill, and request the port again."},
	{AuthorizedPersonMismatch, ActCustomer, account + "last_name", "The losing carrier does not know the signer as authorized. Have a person sign who is named on the account, and request the port again."},
	{BillingNumberMismatch, ActCustomer, account + "account_number", "The billing telephone number is not that of the account. Ask the losing carrier for it, and request the port again."},
	{BusinessNameMismatch, ActCustomer, account + "business_name", "The business name is not the one on the account. Copy it from a bill, and request the port again."},
	{AddressMismatch, ActCustomer, account + "address", "The service address is not the one on the account. Copy it from a bill, and request the port again."},
	{PostalCodeMismatch, ActCustomer, account + "address.zip", "The postal code is not the one on the account. Copy it from a bill, and request the port again."},
	{PINInvalid, ActCustomer, account + "pin", "The losing carrier refuses the PIN. Ask it for a new transfer PIN, and request the port again."},
	{PINRequired, ActCustomer, account + "pin", "The losing carrier asks for a PIN. Ask it for a transfer PIN, and request the port again."},
	{NumberNotFound, ActCustomer, "phone_numbers", "The losing carrier does not have this number. Check the number and the carrier, and request the port again."},
	{NumberInactive, ActCustomer, "phone_numbers", "The number is not in service. Have the losing carrier restore it, and request the port again."},
	{NumberNotPortable, ActNobody, "phone_numbers", "The number cannot be ported."},
	{RateCenterNotCovered, ActNobody, "phone_numbers", "This service cannot port numbers of this area."},
	{PendingOrder, ActCustomer, "phone_numbers", "Another order on the account is open. Have the losing carrier finish or cancel it, and request the port again."},
	{PortFreeze, ActCustomer, "phone_numbers", "The account is protected against ports. Have the losing carrier lift the protection, and request the port again."},
	{SpecialFeature, ActCustomer, "phone_numbers", "The number has a feature that prevents the port, such as DSL or a hunt group. Have the losing carrier remove it, and request the port again."},
	{MainBillingNumber, ActCustomer, "phone_numbers", "The number is the main number of the account. Name another one for the numbers that stay, or port all of them."},
	{SplitRequired, ActCustomer, "phone_numbers", "The numbers belong to different carriers or accounts. Request each group by itself."},
	{WrongPortType, ActCustomer, "phone_numbers", "The number is of another kind than the order. Request it by itself."},
	{FOCRejected, ActCustomer, "target_port_date", "The losing carrier refuses the date. Choose a later one, and request the port again."},
	{FOCExpired, ActCustomer, "target_port_date", "The confirmed date has passed without a port. Request the port again."},
	{CarrierUnresponsive, ActCarrier, "", "The losing carrier has not answered. The request goes on by itself when it does."},
	{NPACConflict, ActCarrier, "", "The losing carrier objects to the port. The carriers must settle it; ask the losing carrier for its reason."},
	{OutstandingBalance, ActCustomer, "", "The account has an unpaid balance. Settle it with the losing carrier, and request the port again."},
	{LOAInvalid, ActSigner, "", "The losing carrier refuses the letter of authorization. Request the port again, and have it signed anew."},
	{LOADeclined, ActSigner, "", "The authorized representative has declined to sign. Request the port again when that is settled."},
	{SignatureTooLate, ActSigner, "", "The letter of authorization was not signed in time. Request the port again."},
	{DocumentRejected, ActCustomer, "documents", "The losing carrier refuses a document. Upload a bill of the last 30 days, and request the port again."},
	{GatewayError, ActOperator, "", "The request could not be delivered to the carrier. The operator of this service must act."},
	{ActivationFailed, ActOperator, "", "The number was released, but is not active on this service. The operator of this service must act."},
	{RegistrationConflict, ActOperator, "", "The number is ported, but somebody else has registered it on this service. The operator of this service must act."},
	{OtherFailure, ActOperator, "", "The carrier gives another reason. Ask the operator of this service for it."},
}

// Remedies returns the remedies of all failure codes.
func Remedies() []Remedy { return slices.Clone(remedies) }

// Remedy returns the remedy of a failure code. It returns the remedy of OtherFailure for an unknown code.
func (c FailureCode) Remedy() Remedy {
	for _, r := range remedies {
		if r.Code == c {
			return r
		}
	}
	return remedies[len(remedies)-1]
}
