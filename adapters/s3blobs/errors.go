package s3blobs

import (
	"context"
	"errors"
	"net/http"
	"slices"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"

	"github.com/callwright/callwright"
)

// The errors that callers receive. Each wraps the server's response as its cause, for the log.
var (
	errNoBucket = callwright.Errorf(callwright.CodeUnavailable, "the bucket for audio does not exist: create it, or correct its name or region")
	errRefused  = callwright.Errorf(callwright.CodeUnavailable, "the storage for audio refuses access: correct the key or its policy")
	errClock    = callwright.Errorf(callwright.CodeUnavailable, "the storage for audio refuses access, because the clock of this machine is wrong: correct the clock")
	errFull     = callwright.Errorf(callwright.CodeUnavailable, "the storage for audio is full: free space, or raise its quota")
	errAway     = callwright.Errorf(callwright.CodeUnavailable, "the storage for audio does not answer: try again later")
	errNoS3     = callwright.Errorf(callwright.CodeUnavailable, "the storage for audio does not speak S3: correct its endpoint")
	errCut      = callwright.Errorf(callwright.CodeUnavailable, "the audio is shorter than it was when it was stored: restore it from a backup")
	errChanged  = callwright.Errorf(callwright.CodeUnavailable, "the audio was changed or deleted while it was read: open it again")
)

// byCode maps S3's error codes to errors. For other codes, byStatus maps the HTTP status.
var byCode = []struct {
	as    *callwright.Error
	codes []string
}{
	{callwright.NotFound("audio"), []string{"NoSuchKey", "NoSuchVersion"}},
	{errNoBucket, []string{"NoSuchBucket", "PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException"}},
	{errRefused, []string{"InvalidAccessKeyId", "XAdminUserNotFound"}},
	{errClock, []string{"RequestTimeTooSkewed"}},
	{errFull, []string{"QuotaExceeded", "XMinioStorageFull", "InsufficientStorage", "EntityTooLarge"}},
	{errChanged, []string{"PreconditionFailed", "InvalidRange"}},
}

// translate converts an error of the S3 client to an error with a code. If ctx has ended, it returns the cause of ctx.
func translate(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	if _, coded := errors.AsType[*callwright.Error](err); coded {
		return err
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		for _, known := range byCode {
			if slices.Contains(known.codes, api.ErrorCode()) {
				return known.as.Because(err)
			}
		}
	}
	if answer, ok := errors.AsType[*awshttp.ResponseError](err); ok {
		return byStatus(answer.HTTPStatusCode()).Because(err)
	}
	return errAway.Because(err)
}

// byStatus returns the error for the HTTP status of a response. Status 0 means that no response arrived.
func byStatus(status int) *callwright.Error {
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return errRefused
	case status == http.StatusPreconditionFailed || status == http.StatusRequestedRangeNotSatisfiable:
		return errChanged
	case status == http.StatusInsufficientStorage:
		return errFull
	case status == 0 || status >= http.StatusInternalServerError || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout:
		return errAway
	default:
		return errNoS3
	}
}
