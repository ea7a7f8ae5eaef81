package podstatus

import "fmt"

// Reasons of a container that waits for its image (pkg/kubelet/images/types.go).
const (
	ReasonImagePullBackOff  = "ImagePullBackOff"
	ReasonErrImagePull      = "ErrImagePull"
	ReasonErrImageNeverPull = "ErrImageNeverPull"
	ReasonInvalidImageName  = "InvalidImageName"
)

// ImageMessage returns the message of a container that waits for an image that is not in the registry. It returns "" for other reasons.
func ImageMessage(reason, image string) string {
	notFound := fmt.Sprintf("rpc error: code = NotFound desc = failed to pull and unpack image %q: failed to resolve reference %q: %s: not found", image, image, image)
	switch reason {
	case ReasonImagePullBackOff:
		return fmt.Sprintf("Back-off pulling image %q: %s: %s", image, ReasonErrImagePull, notFound)
	case ReasonErrImagePull:
		return notFound
	case ReasonErrImageNeverPull:
		return fmt.Sprintf("Container image %q is not present with pull policy of Never", image)
	default:
		return ""
	}
}
