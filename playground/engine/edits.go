package main

// kubernetes are the modules whose methods of protobuf are left out.
var kubernetes = map[string]bool{
	"k8s.io/api": true, "k8s.io/apimachinery": true, "k8s.io/apiserver": true, "sigs.k8s.io/structured-merge-diff/v6": true,
}

// protobuf are the methods that are left out: objects are read and written as JSON and YAML. Size stays, by which a controller
// bounds what it creates.
var protobuf = map[string]bool{
	"Marshal": true, "MarshalTo": true, "MarshalToSizedBuffer": true, "Unmarshal": true, "MarshalToWriter": true, "NestedMarshalTo": true,
}

// leftOut are functions by their files. Descriptors in messages are not read: no message is declared in expressions.
var leftOut = map[string][]string{
	"github.com/google/cel-go/cel/options.go": {"TypeDescs", "registerFileSet", "registerFiles"},
}

// edits are the replacements in files: old and new texts, in turns. Each old text must be there, so that an upgrade that changes it
// fails the build.
var edits = map[string][]string{
	// net/http has crypto/tls on its way.
	"k8s.io/apiserver/pkg/authorization/authorizer/interfaces.go": {"GetRequestAttributes(user.Info, *http.Request) Attributes", ""},
	"k8s.io/apimachinery/pkg/util/runtime/runtime.go":             {"if r == http.ErrAbortHandler {", "if r == nil {"},
	"k8s.io/apimachinery/pkg/watch/streamwatcher.go":              {"if net.IsProbableEOF(err) || net.IsTimeout(err) {", "if false {"},
	// Objects are not read and written as CBOR, nor values of managed fields as JSON.
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct/direct.go": {
		"package direct", "package direct\n\nimport \"errors\"",
		"return modes.Encode.Marshal(src)", "return nil, errors.ErrUnsupported",
		"return modes.Decode.Unmarshal(src, dst)", "return errors.ErrUnsupported",
		"return modes.Diagnostic.Diagnose(src)", `return "", errors.ErrUnsupported`,
	},
	"sigs.k8s.io/structured-merge-diff/v6/value/value.go": {
		"var (\n\treadPool  = jsoniter", "/*\n\treadPool  = jsoniter",
		"1024).Pool()\n)", "1024).Pool()\n*/",
		"// FromJSON is a helper", "/* FromJSON is a helper",
		"// ToYAML marshals", "*/\n\n// ToYAML marshals",
	},
	// Messages are written and read by reflection, without functions for each kind of field.
	"google.golang.org/protobuf/internal/impl/codec_message.go": {
		"mi.coderFields = make(map[protowire.Number]*coderFieldInfo)\n", "return\n\n\tmi.coderFields = make(map[protowire.Number]*coderFieldInfo)\n",
	},
	"google.golang.org/protobuf/internal/impl/codec_extension.go": {"\t\tfuncs:   encoderFuncsForValue(xd),\n", ""},
	// A registration keeps all kinds of an API group, with all their methods.
	"k8s.io/api/core/v1/register.go":             noKinds,
	"k8s.io/api/batch/v1/register.go":            noKinds,
	"k8s.io/api/authentication/v1/register.go":   noKinds,
	"k8s.io/api/scheduling/v1alpha3/register.go": noKinds,
}

var noKinds = []string{"runtime.NewSchemeBuilder(addKnownTypes)", "runtime.NewSchemeBuilder()"}
