package evidence

import (
	"errors"
	"math"
	"math/big"
	"math/bits"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/component-helpers/resource"
)

// Amount is a quantity of a resource over time, in thousandths of its unit times milliseconds. A core for an hour is
// 3,600,000,000, and so is a GPU; the unit of memory is a byte.
type Amount struct{ high, low uint64 }

// perHour is the Amount of one unit for an hour.
const perHour = 1000 * 3600 * 1000

// over returns the Amount of thousandths of a unit for a duration. Negative arguments yield zero.
func over(thousandths int64, d time.Duration) Amount {
	if thousandths <= 0 || d <= 0 {
		return Amount{}
	}
	high, low := bits.Mul64(uint64(thousandths), uint64(d.Milliseconds())) //nolint:gosec // both are above 0
	return Amount{high, low}
}

// Plus returns the sum of two amounts, or the largest Amount if the sum overflows.
func (a Amount) Plus(b Amount) Amount {
	low, carry := bits.Add64(a.low, b.low, 0)
	high, over := bits.Add64(a.high, b.high, carry)
	if over > 0 {
		return Amount{math.MaxUint64, math.MaxUint64}
	}
	return Amount{high, low}
}

// Compare returns -1, 0 or 1 if a is less than, equal to or more than b.
func (a Amount) Compare(b Amount) int { return a.big().Cmp(b.big()) }

// Hours returns the amount in units times hours, approximated as a float64.
func (a Amount) Hours() float64 {
	hours, _ := new(big.Rat).SetFrac(a.big(), big.NewInt(perHour)).Float64()
	return hours
}

func (a Amount) big() *big.Int {
	n := new(big.Int).SetUint64(a.high)
	return n.Or(n.Lsh(n, 64), new(big.Int).SetUint64(a.low))
}

// String returns the exact value as a decimal number.
func (a Amount) String() string { return a.big().String() }

// MarshalText returns String, which JSON keeps exact.
func (a Amount) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText parses the output of MarshalText.
func (a *Amount) UnmarshalText(text []byte) error {
	n, ok := new(big.Int).SetString(string(text), 10)
	if !ok || n.Sign() < 0 || n.BitLen() > 128 {
		return errors.New("not a whole number of 128 bits")
	}
	a.low = new(big.Int).And(n, new(big.Int).SetUint64(1<<64-1)).Uint64()
	a.high = n.Rsh(n, 64).Uint64()
	return nil
}

// Amounts maps resource names to amounts. Zero amounts are omitted.
type Amounts map[corev1.ResourceName]Amount

// Add adds other amounts.
func (a *Amounts) Add(other Amounts) {
	for name, amount := range other {
		if *a == nil {
			*a = Amounts{}
		}
		(*a)[name] = (*a)[name].Plus(amount)
	}
}

// thousandths returns a quantity in thousandths of its unit, limited to math.MaxInt64.
func thousandths(q apiresource.Quantity) int64 {
	if q.CmpInt64(math.MaxInt64/1000) >= 0 {
		return math.MaxInt64
	}
	return q.MilliValue()
}

// reserved returns the resources that a Pod reserves during d: the requests that the scheduler counts.
func reserved(pod *corev1.Pod, d time.Duration) Amounts {
	var all Amounts
	for name, quantity := range resource.PodRequests(pod, resource.PodResourcesOptions{}) {
		if amount := over(thousandths(quantity), d); amount != (Amount{}) {
			all.Add(Amounts{name: amount})
		}
	}
	return all
}
