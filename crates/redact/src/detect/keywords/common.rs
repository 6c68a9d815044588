//! Which three bytes stand beside each other most often.

/// The thousand most frequent, the first first: counted over 20 MB of Rust, Python and Markdown, without their white space.
pub(super) const COMMON: &[u8] = b"\
    theingionatetiocomithforentandselelfhttttpps:tpss:/strterconressta.cotesserom/ustatierrratturgitthualllethubub./gi\
    b.c//gestodeuserusonsrearromplcodintpartatrorveritedervalectmatthilf.triaddoneasswitureherultted(htmenullhisproble\
    rindat](hametraimpplemutersizeeadencanglininealierte::arglocnotpulindntehan/ruablcrarettypdef/puextll/froromeriend\
    licthacheoutypesseurntimchapreareortontneworegettorasectihatereicem/retundenamst-lenimeranessritatuperompytededbyt\
    tchpornseluenstkeyenseatileeraeconerormalusiononivepatfixatcdecove_stncedocpubcorcaltinputthor::truntasizitifilnge\
    actllors/ackncorefideptispaarssyndin::nequmetsintokrecwheartialstdwriattuesnalockntiinsappemeatahasdenrmapanrserap\
    sedtarexpesurt_ailcates.setbufsulred(seoptsteainrsitteomesupd::undyoulanrequsiroumitounagerenntseveto_tenhenleat_e\
    dest::raclowfeaatoumevecaitkin&mubut:nees/ticrepraifercanistgenignyncqueopewraeleutesomenelid/toeaslibothourokiupp\
    cenlemethnumt-litsanykioesetexicaew(ng/-rsmodmapntrria_intabntotryer:ampposantpla::flesommlf,pences_reed_inilitfie\
    ppouctanc-latom_eqlsee()astcuruilworer.buipecildsigordefaeareq!priernq!(acerdelizjecachfinte:te_eldaulnnensirucexa\
    ielfau/coadeashillpacrelmesarc:ttatharasesssiityffemanlatiretreio/alshodefindoloninpollsonnpuned_coemotemcloissgin\
    de_bugincis_tanenglasbloocataibaswhihouautme(minddesitrgeonabitdist()iffremxamclaespasy::srivap(colvened._pasennit\
    m/takeifillyuncsececidepunwt!(et_mpaor:moruni::reamorklf)nwr.unpinixerreardansv0.enaquiafet)*ribnows.isafcre_lest_\
    ariom_ocsf._on.ckenesrchoseervrovloghealedutinchramp()::in()ownonfllespeostdexete::eayselsdle/limovmals/tstccrouff\
    oulxedndiuldregaryunsshobachavempcasropppewilfalte(ninssu&senfiharen(oribercten::emastidomryp/crer(ibuypthescrydid\
    orsflaiseavenicerdjsoiesddirtipononlstos::rceo_sok(ptondlr()asiighmemtd:hin.rsoinler0x0:renlytivina_ennatasker_gra\
    cfgtlyhicoras/pcaro-rmbe.iotacer,::dimapliinveed.toshirnsvarcopichfunsubmac(&sio-horng(g/lunt::ptt)inffigfmtgesond\
    ickiltellsueas_lt<epe::csouwininnon:runegeebuseaspoetalaglaylisctocumobjutoriccs..ismaicaprtendaowengiwas::tsagark\
    ditermvidibcapauirdebodulteimirawurcbox.inienrtsrr(nlisickenghtldsocunctfaidar_kel/1s.raccs()nabtiaroteckovi).uf::\
    howutptpuuleeprle.seeembfutwaieerexise_//dth_padhecse:ltirst_by/doutuoryoteor(scooolacraleer`apiunkralnd__den'tnva\
    cidthrng_ne(rgsx00te)inls/csli::agedon_liecliowsne,isicoubinrassidmul::bdireti#[cicoreeruekedeptttrink_mamptg()es,\
    cho(de:fr[injifzertr(o::tcrwaywerrt!ualc::crillicluystle_museak`stfic.gepolerfdgel/4eenblibjemarmakvedpesw()idampr\
    ry__sedulre/er)ousccere:ed,odiaciwarushnex_erio:to/(&mrvestsrgoes(bc/anne_sxprirsrararrxtesyslar.asong_nognaorrc/p\
    se,_sies:okenfonds(reeponsafirmicags_vapdalf:_wirip[cfssaed(ldegernveawapilomihre_fiescpedrigmerdifnd(offupdpoiorg\
    ivaonvanilachemal_lec_prsolid:zonnclibl).amaxng,downgsuthdetmmibraphf-coboueroossesoexcst)ce(#[iut_mpie(shel`ruray\
    badbetng.til#[tds.etsuraurrikeet(barsplon-zedng:uri.stnsuumboldlabst]oco<'abre::mve(ronecailioncvelnort-pcepxperev\
    ts.oma.lee_evicfg(pty.orrksadgon,rie\
";
