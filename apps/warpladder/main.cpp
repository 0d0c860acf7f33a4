#include "device/device.hpp"
#include "device/cpu/executor.hpp"
#include "ladder/ladder.hpp"
#include "ops/sgemm/problem.hpp"
#include <cstdio>
#include <random>
#include <cstdlib>
#include <cmath>
using namespace warpladder;
int main(int argc,char**argv){ int n=argc>1?atoi(argv[1]):128; int fl=argc>2?atoi(argv[2]):1; int th=argc>3?atoi(argv[3]):1; bool chk=argc>4;
 std::mt19937 g(1); std::uniform_real_distribution<float> d(-1,1); std::vector<float> a(n*n),b(n*n); for(auto&x:a)x=d(g); for(auto&x:b)x=d(g);
 std::vector<float> ref; double tref=0;
 for(auto&r:ladder::rungs_of("sgemm")){ auto f=(device::Flavour)fl; if(r->on_host) f=device::Flavour::plain; if(!r->launcher(f)) continue;
  device::Stream s(device::Target::cpu); s.executor_threads=th; s.check_shared_memory=chk; std::vector<device::KernelCounts> k; s.record_counts=&k;
  device::Buffer<float> A(device::Target::cpu,a),B(device::Target::cpu,b),C(device::Target::cpu,n*n);
  sgemm::Call c{sgemm::compact(n,n,n),A.data(),B.data(),C.data()};
  double best=1e9; for(int i=0;i<2;i++){ k.clear(); device::Timer t(s); t.start(); try{ r->launcher(f)(&c,s);}catch(std::exception&e){puts(e.what());} t.stop(); best=std::min(best,t.seconds()); }
  auto out=C.download(); if(ref.empty()){ref=out;tref=best;} double e=0; for(size_t i=0;i<out.size();i++) e=std::max(e,(double)std::fabs(out[i]-ref[i]));
  printf("%s %.4f s  x%.2f err %g guards %d\n",r->id.c_str(),best,best/tref,e,C.guards_intact());
  for(auto&kc:k){ printf("%s\n",kc.kernel.c_str()); for(auto&x:kc.accesses) printf("  %s:%d space %d kind %d %dB req %lu lanes %lu sec %lu/%lu wf %lu/%lu worst %u\n",x.file.c_str(),x.line,(int)x.space,(int)x.kind,x.bytes,x.requests,x.lanes,x.sectors,x.ideal_sectors,x.wavefronts,x.ideal_wavefronts,x.worst); for(auto&x:kc.events) printf("  %s:%d fma %lu bar %lu shf %lu\n",x.file.c_str(),x.line,x.fmas,x.barriers,x.shuffles);
   if(r->predict) { auto t=r->predict(&c); printf("  prediction %s\n", t==ladder::totals_of(k)?"HOLDS":"differs"); } }
 } }
